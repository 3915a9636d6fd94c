/**
 * What `kubectl get` shows of Kubernetes' own kinds, by group and plural: the same as the real server's tables. Kinds that
 * are not here show their name and when they were created, as they do there.
 */
import type { Column } from "../api/resource.ts";
import * as cluster from "./columns/cluster.ts";
import { createdAt, name } from "./columns/common.ts";
import * as network from "./columns/network.ts";
import { nodeColumns } from "./columns/nodes.ts";
import { podColumns, podTemplateColumns } from "./columns/pods.ts";
import * as storage from "./columns/storage.ts";
import * as workloads from "./columns/workloads.ts";

export const defaultColumns: readonly Column[] = [name, createdAt];

export const columns: Readonly<Record<string, readonly Column[]>> = {
  "/componentstatuses": cluster.componentStatusColumns,
  "/configmaps": cluster.configMapColumns,
  "/endpoints": network.endpointsColumns,
  "/events": cluster.eventColumns,
  "/namespaces": cluster.namespaceColumns,
  "/nodes": nodeColumns,
  "/persistentvolumeclaims": storage.claimColumns,
  "/persistentvolumes": storage.volumeColumns,
  "/pods": podColumns,
  "/podtemplates": podTemplateColumns,
  "/replicationcontrollers": workloads.replicationControllerColumns,
  "/resourcequotas": cluster.resourceQuotaColumns,
  "/secrets": cluster.secretColumns,
  "/serviceaccounts": cluster.nameAndAge,
  "/services": network.serviceColumns,
  "admissionregistration.k8s.io/mutatingadmissionpolicies": cluster.mutatingPolicyColumns,
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": cluster.policyBindingColumns,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": cluster.webhookColumns,
  "admissionregistration.k8s.io/validatingadmissionpolicies": cluster.validatingPolicyColumns,
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": cluster.policyBindingColumns,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": cluster.webhookColumns,
  "apps/controllerrevisions": workloads.controllerRevisionColumns,
  "apps/daemonsets": workloads.daemonSetColumns,
  "apps/deployments": workloads.deploymentColumns,
  "apps/replicasets": workloads.replicaSetColumns,
  "apps/statefulsets": workloads.statefulSetColumns,
  "autoscaling/horizontalpodautoscalers": workloads.autoscalerColumns,
  "batch/cronjobs": workloads.cronJobColumns,
  "batch/jobs": workloads.jobColumns,
  "certificates.k8s.io/certificatesigningrequests": cluster.signingRequestColumns,
  "certificates.k8s.io/clustertrustbundles": cluster.signedBundleColumns,
  "coordination.k8s.io/leases": cluster.leaseColumns,
  "discovery.k8s.io/endpointslices": network.endpointSliceColumns,
  "events.k8s.io/events": cluster.eventColumns,
  "flowcontrol.apiserver.k8s.io/flowschemas": cluster.flowSchemaColumns,
  "networking.k8s.io/ingressclasses": network.ingressClassColumns,
  "networking.k8s.io/ingresses": network.ingressColumns,
  "networking.k8s.io/ipaddresses": network.ipAddressColumns,
  "networking.k8s.io/networkpolicies": network.networkPolicyColumns,
  "networking.k8s.io/servicecidrs": network.serviceCidrColumns,
  "node.k8s.io/runtimeclasses": cluster.runtimeClassColumns,
  "policy/poddisruptionbudgets": workloads.podDisruptionBudgetColumns,
  "rbac.authorization.k8s.io/clusterrolebindings": cluster.bindingColumns,
  "rbac.authorization.k8s.io/rolebindings": cluster.bindingColumns,
  "resource.k8s.io/deviceclasses": cluster.nameAndAge,
  "resource.k8s.io/resourceclaims": cluster.resourceClaimColumns,
  "resource.k8s.io/resourceclaimtemplates": cluster.nameAndAge,
  "resource.k8s.io/resourceslices": cluster.resourceSliceColumns,
  "scheduling.k8s.io/priorityclasses": cluster.priorityClassColumns,
  "storage.k8s.io/csidrivers": storage.csiDriverColumns,
  "storage.k8s.io/csinodes": storage.csiNodeColumns,
  "storage.k8s.io/csistoragecapacities": storage.csiStorageCapacityColumns,
  "storage.k8s.io/storageclasses": storage.storageClassColumns,
  "storage.k8s.io/volumeattachments": storage.volumeAttachmentColumns,
  "storage.k8s.io/volumeattributesclasses": storage.volumeAttributesClassColumns,
};
