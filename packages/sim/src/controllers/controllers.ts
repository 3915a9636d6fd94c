/** The controllers that every cluster has: what kube-controller-manager is in a real one. */
import type { NodeHealth } from "../kubelet/node-health.ts";
import { Bootstrap } from "./bootstrap.ts";
import type { Component, Surroundings } from "./component.ts";
import { CronJobController } from "./cron-job/cron-job-controller.ts";
import { DeploymentController } from "./deployment/deployment-controller.ts";
import { DisruptionBudgetController } from "./disruption-budget.ts";
import { EventExpiry } from "./event-expiry.ts";
import { GarbageCollector } from "./garbage-collector/garbage-collector.ts";
import { FinishedJobs } from "./job/finished-jobs.ts";
import { JobController } from "./job/job-controller.ts";
import { NamespaceContents } from "./namespace-contents.ts";
import { NamespaceDeletion } from "./namespace-deletion.ts";
import { NodeLifecycle } from "./node/node-lifecycle.ts";
import { PodGarbage } from "./node/pod-garbage.ts";
import { TaintEviction } from "./node/taint-eviction.ts";
import { ReplicaSetController } from "./replica-set.ts";
import { ResourceQuotaController } from "./resource-quota.ts";
import { EndpointController } from "./service/endpoint-controller.ts";
import { DaemonSetController } from "./sets/daemon-set.ts";
import { StatefulSetController } from "./sets/stateful-set.ts";

export interface ControllersOptions {
  /** Which nodes are alive, as only their kubelets know. */
  readonly health: NodeHealth;
}

export function controllers(surroundings: (name: string) => Surroundings, { health }: ControllersOptions): Component[] {
  return [
    new NamespaceContents(surroundings("namespace-contents")),
    new NamespaceDeletion(surroundings("namespace-deletion")),
    new Bootstrap(surroundings("bootstrap")),
    new GarbageCollector(surroundings("garbage-collector")),
    new EventExpiry(surroundings("event-expiry")),
    new NodeLifecycle(surroundings("node-lifecycle"), { health }),
    new TaintEviction(surroundings("taint-eviction")),
    new PodGarbage(surroundings("pod-garbage")),
    new JobController(surroundings("job")),
    new FinishedJobs(surroundings("finished-jobs")),
    new CronJobController(surroundings("cron-job")),
    new ReplicaSetController(surroundings("replica-set")),
    new DeploymentController(surroundings("deployment")),
    new StatefulSetController(surroundings("stateful-set")),
    new DaemonSetController(surroundings("daemon-set")),
    new EndpointController(surroundings("endpoints")),
    new DisruptionBudgetController(surroundings("disruption-budget")),
    new ResourceQuotaController(surroundings("resource-quota")),
  ];
}
