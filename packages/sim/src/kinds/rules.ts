/** The rules of Kubernetes' own kinds, by group and plural. Kinds without any are stored as they come. */
import { coreV1 } from "@berth/kube";
import type { Rules } from "../api/resource.ts";
import { configMapRules, secretRules } from "./core/config-map.ts";
import { endpointSliceRules, endpointsRules } from "./core/endpoints.ts";
import { eventRules, newEventRules } from "./core/event.ts";
import { limitRangeRules, resourceQuotaRules } from "./core/limits.ts";
import { namespaceRules } from "./core/namespace.ts";
import { nodeRules } from "./core/node.ts";
import { persistentVolumeRules } from "./core/persistent-volume.ts";
import { persistentVolumeClaimRules } from "./core/persistent-volume-claim.ts";
import { serviceAccountRules } from "./core/service-account.ts";
import { autoscalerRules } from "./others/autoscaler.ts";
import { certificateRequestRules } from "./others/certificate-request.ts";
import { disruptionBudgetRules } from "./others/disruption-budget.ts";
import { leaseRules } from "./others/lease.ts";
import { ingressRules, networkPolicyRules } from "./others/networking.ts";
import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from "./others/rbac.ts";
import { controllerRevisionRules, podTemplateRules } from "./others/records.ts";
import { priorityClassRules, runtimeClassRules } from "./others/scheduling.ts";
import { storageClassRules } from "./others/storage-class.ts";
import { podRules } from "./pod/rules.ts";
import { serviceRules } from "./service/rules.ts";
import { cronJobRules } from "./workloads/cron-job.ts";
import { daemonSetRules } from "./workloads/daemon-set.ts";
import { deploymentRules } from "./workloads/deployment.ts";
import { jobRules } from "./workloads/job.ts";
import { replicaSetRules, replicationControllerRules } from "./workloads/replica-set.ts";
import { statefulSetRules } from "./workloads/stateful-set.ts";

const COUNTED: Rules = { generation: true };
const NOT_COUNTED: Rules = { generation: false };
const GUARDED: Rules = { generation: true, needsVersion: true };

export const rules: Readonly<Record<string, Rules>> = {
  "/bindings": { standsFor: { kind: coreV1.Pod, subresource: "binding" } },
  "/configmaps": configMapRules,
  "/endpoints": endpointsRules,
  "/events": eventRules,
  "/limitranges": limitRangeRules,
  "/namespaces": namespaceRules,
  "/nodes": nodeRules,
  "/persistentvolumeclaims": persistentVolumeClaimRules,
  "/persistentvolumes": persistentVolumeRules,
  "/pods": podRules,
  "/podtemplates": podTemplateRules,
  "/replicationcontrollers": replicationControllerRules,
  "/resourcequotas": resourceQuotaRules,
  "/secrets": secretRules,
  "/serviceaccounts": serviceAccountRules,
  "/services": serviceRules,
  "admissionregistration.k8s.io/mutatingadmissionpolicies": GUARDED,
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": GUARDED,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": GUARDED,
  "admissionregistration.k8s.io/validatingadmissionpolicies": GUARDED,
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": GUARDED,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": GUARDED,
  "apps/controllerrevisions": controllerRevisionRules,
  "apps/daemonsets": daemonSetRules,
  "apps/deployments": deploymentRules,
  "apps/replicasets": replicaSetRules,
  "apps/statefulsets": statefulSetRules,
  "autoscaling/horizontalpodautoscalers": autoscalerRules,
  "batch/cronjobs": cronJobRules,
  "batch/jobs": jobRules,
  "certificates.k8s.io/certificatesigningrequests": certificateRequestRules,
  "coordination.k8s.io/leases": leaseRules,
  "discovery.k8s.io/endpointslices": endpointSliceRules,
  "events.k8s.io/events": newEventRules,
  "flowcontrol.apiserver.k8s.io/flowschemas": COUNTED,
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": COUNTED,
  "networking.k8s.io/ingressclasses": COUNTED,
  "networking.k8s.io/ingresses": ingressRules,
  "networking.k8s.io/networkpolicies": networkPolicyRules,
  "networking.k8s.io/servicecidrs": NOT_COUNTED,
  "node.k8s.io/runtimeclasses": runtimeClassRules,
  "policy/poddisruptionbudgets": disruptionBudgetRules,
  "rbac.authorization.k8s.io/clusterrolebindings": clusterRoleBindingRules,
  "rbac.authorization.k8s.io/clusterroles": clusterRoleRules,
  "rbac.authorization.k8s.io/rolebindings": roleBindingRules,
  "rbac.authorization.k8s.io/roles": roleRules,
  "resource.k8s.io/deviceclasses": COUNTED,
  "resource.k8s.io/resourceclaims": NOT_COUNTED,
  "resource.k8s.io/resourceslices": COUNTED,
  "scheduling.k8s.io/priorityclasses": priorityClassRules,
  "storage.k8s.io/csidrivers": GUARDED,
  "storage.k8s.io/csinodes": { needsVersion: true },
  "storage.k8s.io/csistoragecapacities": { needsVersion: true },
  "storage.k8s.io/storageclasses": storageClassRules,
  "storage.k8s.io/volumeattachments": { generation: false, needsVersion: true },
};
