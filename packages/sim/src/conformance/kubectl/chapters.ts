/** What somebody types who uses a cluster for ten minutes. Each chapter has a namespace and two nodes of its own. */

/** A command, what it is told to read, and what of its output is left out because it cannot be compared. */
export interface Command {
  readonly line: string;
  readonly input?: string;
  /** Lines from this one on are not compared. */
  readonly until?: RegExp;
  /** Lines that are not compared. */
  readonly without?: RegExp;
  /** Compared in alphabetical order: whoever prints it promises none. */
  readonly sorted?: boolean;
  /** Run until it prints what it should: for what the cluster does by itself, a moment later. */
  readonly eventually?: boolean;
}

export interface Chapter {
  readonly title: string;
  readonly commands: readonly (string | Command)[];
}

const yaml = (text: string) => text.replace(/^\n/, "").replace(/\n\s*$/, "\n");

const CONFIG = yaml(`
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  labels: {app: web}
data:
  color: blue
  size: "3"
`);

const WEB = yaml(`
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {corner: NODES}
      tolerations: [{key: corner, operator: Exists}]
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: nginx:1
        resources: {requests: {cpu: "1", memory: 64Mi}}
`);

const POD = yaml(`
apiVersion: v1
kind: Pod
metadata:
  name: lone
  labels: {app: lone}
spec:
  nodeSelector: {kubernetes.io/hostname: NODE-1}
  tolerations: [{key: corner, operator: Exists}]
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: busybox:1
    command: [sleep, infinity]
    env: [{name: COLOR, value: blue}]
    resources: {requests: {cpu: "2", memory: 32Mi}, limits: {memory: 64Mi}}
`);

const JOB = yaml(`
apiVersion: batch/v1
kind: Job
metadata:
  name: pi
spec:
  completions: 2
  parallelism: 2
  template:
    metadata:
      annotations: {berth.dev/run-time: 100ms}
    spec:
      nodeSelector: {corner: NODES}
      tolerations: [{key: corner, operator: Exists}]
      restartPolicy: Never
      containers:
      - name: main
        image: perl:5
        command: [perl, -e, "print 3.14"]
`);

const CRD = yaml(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.NAMESPACE.example.org
spec:
  group: NAMESPACE.example.org
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, shortNames: [tg]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    - {name: Color, type: string, jsonPath: .spec.color, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: Something.
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How large it is.}
              color: {type: string, default: red}
`);

const THING = yaml(`
apiVersion: NAMESPACE.example.org/v1
kind: Thing
metadata: {name: one}
spec: {size: 3}
`);

const QUOTA = yaml(`
apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec:
  limits:
  - {type: Container, default: {cpu: "2"}, defaultRequest: {cpu: "1"}}
`);

export const chapters: readonly Chapter[] = [
  {
    title: "looking around",
    commands: [
      { line: "version", without: /^(Client|Kustomize)/ },
      "cluster-info",
      { line: "api-resources --api-group=apps", sorted: true },
      { line: "api-resources --api-group=batch -o wide", sorted: true },
      { line: "api-resources --api-group= -o name", sorted: true },
      "explain deployment.spec.strategy --recursive",
      "get --raw /readyz",
      "get nothing-like-that",
      "get pods",
      "get pod missing",
      "get namespace NAMESPACE",
      "get pods --field-selector=foo=bar",
      "get configmaps --watch --request-timeout=1s",
      "events --for=configmap/none",
      "logs none",
      "scale deployment none --replicas=2",
      "wait --for=condition=Ready pod/none --timeout=1s",
      "rollout status deployment/none",
      "get --raw /api/v1/namespaces/NAMESPACE/pods/none",
      { line: "create -f -", input: POD.replace("v1", "v2") },
      { line: "create -f -", input: `${POD.split("  containers:")[0]}  containers: []\n` },
      { line: "replace -f -", input: CONFIG },
      "get endpoints",
      "top nodes",
    ],
  },
  {
    title: "config maps and secrets",
    commands: [
      "create configmap plain --from-literal=a=1 --from-literal=b=2",
      { line: "apply -f -", input: CONFIG },
      { line: "apply -f -", input: CONFIG },
      { line: "diff -f -", input: CONFIG.replace("blue", "green"), without: /^(---|\+\+\+|diff)/ },
      { line: "apply -f -", input: CONFIG.replace("blue", "green") },
      { line: "apply -f - --dry-run=server", input: CONFIG.replace("blue", "red") },
      "get configmaps --field-selector=metadata.name!=kube-root-ca.crt",
      "get configmap settings -o yaml",
      "get configmap settings -o json",
      "get configmap settings -o jsonpath={.data.color}",
      "get cm plain settings -o custom-columns=NAME:.metadata.name,COLOR:.data.color",
      "get cm -o name",
      "label configmap plain tier=back",
      "label configmap plain tier=front",
      "label configmap plain tier=front --overwrite",
      "annotate configmap plain note=hello",
      "get cm -l 'tier in (front,back)' --show-labels",
      "get cm -l app -L app,tier",
      `patch configmap plain --type=merge -p '{"data":{"a":"one"}}'`,
      `patch configmap plain --type=json -p '[{"op":"remove","path":"/data/b"}]'`,
      "get configmap plain -o jsonpath={.data}",
      { line: "replace -f -", input: CONFIG.replace("blue", "white") },
      "describe configmap settings",
      { line: "apply --server-side -f -", input: CONFIG },
      { line: "apply --server-side --force-conflicts -f -", input: CONFIG },
      "create secret generic login --from-literal=user=jane --from-literal=word=secret",
      "get secret login",
      "get secret login -o jsonpath={.data.user}",
      "describe secret login",
      "create configmap plain --from-literal=a=1",
      "create configmap Wrong --from-literal=a=1",
      { line: "create -f -", input: CONFIG.replace("\ndata:", "\ndate:").replace("settings", "typo") },
      {
        line: "create --validate=warn -f - --dry-run=server",
        input: CONFIG.replace("\ndata:", "\ndate:").replace("settings", "typo"),
      },
      "edit configmap plain",
      "get configmap plain -o jsonpath={.data.a}",
      "delete configmap plain settings",
      "delete configmap plain",
      "delete configmap plain --ignore-not-found",
      "get secrets --sort-by=.metadata.name",
      "get cm,secrets --sort-by=.metadata.name -o name",
    ],
  },
  {
    title: "a pod",
    commands: [
      { line: "apply -f -", input: POD },
      "wait --for=condition=Ready pod/lone --timeout=60s",
      "get pods",
      { line: "get pods -o wide --show-labels" },
      "get pod lone -o jsonpath={.status.phase}/{.status.qosClass}",
      "get pods --field-selector=status.phase=Running -o name",
      "get pods --field-selector=spec.nodeName=nowhere",
      "get pods -A --field-selector=metadata.namespace=NAMESPACE",
      {
        line: "describe pod lone",
        until: /^Events:/,
        without: /^Node:|^ +(Container ID|Image ID|Started|Ready {2}|ContainersReady)|kube-api-access/,
      },
      "label pod lone color=blue",
      "set image pod/lone main=busybox:2",
      { line: `patch pod lone -p '{"spec":{"nodeName":"elsewhere"}}'`, until: /^! (@@|-)/ },
      "delete pod lone",
      "wait --for=delete pod/lone --timeout=60s",
      "run quick --image=nginx --restart=Never --dry-run=client -o yaml",
      `run quick --image=nginx --restart=Never --overrides='{"spec":{"nodeSelector":{"corner":"none"}}}'`,
      { line: "get pod quick", eventually: true },
      "delete pod quick --grace-period=0 --force",
    ],
  },
  {
    title: "a deployment and a service",
    commands: [
      { line: "apply -f -", input: WEB },
      { line: "rollout status deployment/web --timeout=60s", without: /^Waiting/ },
      "get deployments",
      "get deployment web -o wide",
      "get replicasets",
      { line: "get pods -l app=web", sorted: true },
      "get deploy,rs -l app=web",
      "expose deployment web --port=80 --target-port=8080",
      "get services",
      "get service web -o wide",
      { line: "describe service web", until: /^Events:/, without: /^(Endpoints|IPs?:|Session|IP )/ },
      "scale deployment web --replicas=3",
      { line: "rollout status deployment/web --timeout=60s", without: /^Waiting/ },
      "set image deployment/web main=nginx:2",
      { line: "rollout status deployment/web --timeout=60s", without: /^Waiting/ },
      "rollout history deployment/web",
      "rollout history deployment/web --revision=2",
      "rollout undo deployment/web",
      { line: "rollout status deployment/web --timeout=60s", without: /^Waiting/ },
      "get deployment web -o jsonpath={.spec.template.spec.containers[0].image}",
      { line: "describe deployment web", until: /^Events:/, without: /^(Old|New)ReplicaSets?:/ },
      "autoscale deployment web --min=1 --max=5 --cpu=80%",
      { line: "get hpa", until: /^$/ },
      "rollout pause deployment/web",
      "rollout resume deployment/web",
      "annotate deployment web note=-",
      { line: "get all -l app=web -o name", sorted: true },
      "delete hpa,service web",
      "delete deployment web --cascade=foreground",
      { line: "get pods,rs", eventually: true },
    ],
  },
  {
    title: "jobs",
    commands: [
      { line: "create -f -", input: JOB },
      "wait --for=condition=complete job/pi --timeout=60s",
      "get jobs",
      { line: "get job pi -o wide", without: /nothing/ },
      { line: "get pods -l job-name=pi", sorted: true },
      "get pods --field-selector=status.phase=Succeeded -l batch.kubernetes.io/job-name=pi -o jsonpath={.items[*].status.phase}",
      {
        line: "describe job pi",
        until: /^Events:/,
        without: /^(Start Time|Completed At|Duration|Selector|Labels)|controller-uid/,
      },
      "create cronjob nightly --image=busybox --schedule='0 3 * * *' -- date",
      "get cronjobs",
      "create job by-hand --from=cronjob/nightly",
      "get job by-hand -o jsonpath={.metadata.ownerReferences[0].kind}/{.metadata.annotations}",
      "delete job pi by-hand",
      "delete cronjob nightly",
      { line: "get jobs,pods", eventually: true },
    ],
  },
  {
    title: "nodes",
    commands: [
      { line: "apply -f -", input: WEB },
      { line: "rollout status deployment/web --timeout=60s", without: /^Waiting/ },
      { line: "get nodes -l corner=NODES" },
      "get node NODE-1 -o jsonpath={.spec.taints[*].key}",
      "cordon NODE-1",
      "get nodes -l corner=NODES",
      "cordon NODE-1",
      "taint node NODE-1 keep=out:NoSchedule",
      "taint node NODE-1 keep=out:NoSchedule",
      "taint node NODE-1 keep-",
      "label node NODE-1 node-role.kubernetes.io/worker=",
      "get nodes -l corner=NODES -o custom-columns=NAME:.metadata.name,OFF:.spec.unschedulable",
      { line: "drain NODE-1 --ignore-daemonsets", sorted: true, without: /pod/ },
      { line: "rollout status deployment/web --timeout=60s", without: /^Waiting/ },
      "get pods -l app=web --field-selector=spec.nodeName=NODE-1",
      "uncordon NODE-1",
      {
        line: "describe node NODE-1",
        until: /^Non-terminated|^Conditions:|^System Info:/,
        without: /^(Labels|Annotations|Lease| {2,})/,
      },
      "delete deployment web",
    ],
  },
  {
    title: "rights",
    commands: [
      "create serviceaccount robot",
      "get serviceaccounts",
      "create role reader --verb=get,list --resource=pods,pods/log",
      "create rolebinding robot-reads --role=reader --serviceaccount=NAMESPACE:robot",
      "get roles,rolebindings -o wide",
      "describe role reader",
      "describe rolebinding robot-reads",
      "auth can-i list pods --as=system:serviceaccount:NAMESPACE:robot",
      "auth can-i delete pods --as=system:serviceaccount:NAMESPACE:robot",
      "auth can-i '*' '*'",
      { line: "auth can-i --list --as=system:serviceaccount:NAMESPACE:robot", sorted: true },
      "auth whoami --as=jane --as-group=devs",
      "get pods --as=jane",
      "get pods --as=system:serviceaccount:NAMESPACE:robot",
      "delete pod x --as=system:serviceaccount:NAMESPACE:robot",
      "create clusterrole NAMESPACE-all --verb=* --resource=*.*",
      "get clusterrole NAMESPACE-all -o yaml",
      "delete clusterrole NAMESPACE-all",
      "delete rolebinding,role,sa --all",
    ],
  },
  {
    title: "namespaces, limits and priorities",
    commands: [
      "create namespace NAMESPACE-more",
      "get namespace NAMESPACE-more",
      "create quota small --hard=pods=2,requests.cpu=1",
      { line: "get quota", eventually: true },
      { line: "describe quota small", eventually: true },
      { line: "apply -f -", input: QUOTA },
      "describe limits limits",
      "create priorityclass NAMESPACE-high --value=1000 --description=High",
      "get priorityclass NAMESPACE-high",
      "create poddisruptionbudget careful --selector=app=web --min-available=1",
      { line: "get pdb", eventually: true },
      "delete priorityclass NAMESPACE-high",
      "create configmap kept -n NAMESPACE-more --from-literal=a=1",
      "delete namespace NAMESPACE-more",
      "get configmap kept -n NAMESPACE-more",
      "describe namespace NAMESPACE",
      "create ingress front --rule=example.org/*=web:80 --class=nginx",
      "get ingress",
    ],
  },
  {
    title: "resources of one's own",
    commands: [
      { line: "apply -f -", input: CRD },
      "wait --for=condition=Established crd/things.NAMESPACE.example.org --timeout=60s",
      { line: "get crd things.NAMESPACE.example.org" },
      { line: "apply -f -", input: THING, eventually: true },
      "get things",
      "get tg one -o wide",
      "get thing one -o jsonpath={.spec}",
      { line: "explain things.spec.size", eventually: true },
      { line: "apply -f -", input: THING.replace("size: 3", "size: 0") },
      { line: "apply -f -", input: THING.replace("size: 3", "size: 3, weight: 4").replace("one", "two") },
      `patch thing one --type=merge -p '{"spec":{"color":"green"}}'`,
      "get things -o custom-columns=N:.metadata.name,C:.spec.color,G:.metadata.generation",
      "delete thing one",
      "delete crd things.NAMESPACE.example.org",
    ],
  },
];
