/** The parts of a pod, as clients fill them in. */
import type { coreV1 } from "@berth/kube";
import type { Loose, LooseObject } from "../common/loose.ts";

export type Pod = LooseObject<coreV1.Pod>;
export type PodSpec = Loose<coreV1.PodSpec>;
export type PodStatus = Loose<coreV1.PodStatus>;
export type PodTemplate = Loose<coreV1.PodTemplateSpec>;
export type Container = Loose<coreV1.Container>;
export type EphemeralContainer = Loose<coreV1.EphemeralContainer>;
export type ContainerStatus = Loose<coreV1.ContainerStatus>;
export type Volume = Loose<coreV1.Volume>;
export type Probe = Loose<coreV1.Probe>;
export type LifecycleHandler = Loose<coreV1.LifecycleHandler>;
export type Requirements = Loose<coreV1.ResourceRequirements>;
export type Toleration = Loose<coreV1.Toleration>;
export type NodeAffinity = Loose<coreV1.NodeAffinity>;
export type NodeSelectorTerm = Loose<coreV1.NodeSelectorTerm>;
export type PodAffinityTerm = Loose<coreV1.PodAffinityTerm>;
export type SecurityContext = Loose<coreV1.SecurityContext>;
export type PodSecurityContext = Loose<coreV1.PodSecurityContext>;
