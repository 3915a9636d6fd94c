/** What the server says of itself: which groups, versions and resources it has, in the old form and the new. Pure. */

import { createHash } from "node:crypto";
import type { Resource, Subresource } from "../api/resource.ts";

/** A version of a group, with its resources. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly Resource[];
}

/** A group, its preferred version first. */
export interface Group {
  readonly name: string;
  readonly versions: readonly GroupVersion[];
}

/** In the order of the real server, which decides who is meant when a name is in several groups. Others come later. */
const GROUP_ORDER = [
  "",
  "apiregistration.k8s.io",
  "apps",
  "events.k8s.io",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "networking.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "storage.k8s.io",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "scheduling.k8s.io",
  "coordination.k8s.io",
  "node.k8s.io",
  "discovery.k8s.io",
  "resource.k8s.io",
  "flowcontrol.apiserver.k8s.io",
];

export function groupsOf(resources: readonly Resource[]): Group[] {
  const groups = new Map<string, Map<string, Resource[]>>();
  for (const resource of resources) {
    const versions = groups.get(resource.group) ?? new Map<string, Resource[]>();
    groups.set(resource.group, versions);
    const known = versions.get(resource.version);
    if (known) known.push(resource);
    else versions.set(resource.version, [resource]);
  }
  const rank = (name: string) => (GROUP_ORDER.includes(name) ? GROUP_ORDER.indexOf(name) : GROUP_ORDER.length);
  return [...groups]
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([name, versions]) => ({
      name,
      versions: [...versions]
        .sort(([a], [b]) => compareVersions(a, b))
        .map(([version, served]) => ({
          group: name,
          version,
          resources: served.toSorted((a, b) => (a.plural < b.plural ? -1 : 1)),
        })),
    }));
}

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const STAGES = ["alpha", "beta", undefined];

/** v2 before v1 before v1beta1 before v1alpha1 before whatever looks different. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [VERSION.exec(a), VERSION.exec(b)];
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : 1;
  return (
    STAGES.indexOf(right[2]) - STAGES.indexOf(left[2]) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  );
}

const apiVersionOf = (group: string, version: string) => (group ? `${group}/${version}` : version);

/** At "/api". */
export function coreVersions(groups: readonly Group[], address: string): object {
  const core = groups.find(({ name }) => name === "");
  return {
    kind: "APIVersions",
    versions: core?.versions.map(({ version }) => version) ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address }],
  };
}

/** At "/apis". */
export function groupList(groups: readonly Group[]): object {
  return {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groups.filter(({ name }) => name !== "").map(groupEntry),
  };
}

/** At "/apis/GROUP". */
export function groupDocument(group: Group): object {
  return { kind: "APIGroup", apiVersion: "v1", ...groupEntry(group) };
}

function groupEntry({ name, versions }: Group) {
  const entries = versions.map(({ version }) => ({ groupVersion: apiVersionOf(name, version), version }));
  return { name, versions: entries, preferredVersion: entries[0] };
}

/** At "/api/v1" and "/apis/GROUP/VERSION". */
export function resourceList({ group, version, resources }: GroupVersion): object {
  return {
    kind: "APIResourceList",
    ...(group && { apiVersion: "v1" }),
    groupVersion: apiVersionOf(group, version),
    resources: resources.flatMap((resource) => [
      {
        name: resource.plural,
        singularName: resource.singular,
        namespaced: resource.namespaced,
        kind: resource.kind,
        verbs: resource.verbs,
        ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
        ...(resource.categories.length > 0 && { categories: resource.categories }),
      },
      ...resource.subresources.map((subresource) => subresourceEntry(resource, subresource)),
    ]),
  };
}

function subresourceEntry({ plural, namespaced, apiVersion }: Resource, subresource: Subresource) {
  const other = subresource.apiVersion !== apiVersion;
  return {
    name: `${plural}/${subresource.name}`,
    singularName: "",
    namespaced,
    ...(other && splitVersion(subresource.apiVersion)),
    kind: subresource.kind,
    verbs: subresource.verbs,
  };
}

function splitVersion(apiVersion: string): { group: string; version: string } {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  return { group, version };
}

/** Everything at once: at "/api" (the core group) and "/apis" (all others), for whoever asks for it. */
export function aggregated(groups: readonly Group[], version: string): object {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name ? { name } : {},
      versions: versions.map((each) => ({
        version: each.version,
        resources: each.resources.map(aggregatedResource),
        freshness: "Current",
      })),
    })),
  };
}

function aggregatedResource(resource: Resource) {
  const { kind, plural, namespaced, singular, shortNames, categories, verbs, subresources } = resource;
  return {
    resource: plural,
    responseKind: { ...HERE, kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((each) => ({
        subresource: each.name,
        responseKind: {
          ...(each.apiVersion === resource.apiVersion ? HERE : splitVersion(each.apiVersion)),
          kind: each.kind,
        },
        verbs: each.verbs,
      })),
    }),
  };
}

/** The group and version that it is said of. */
const HERE = { group: "", version: "" };

/** What a client may compare to know whether it has seen a text already. */
export function entityTag(text: string): string {
  return createHash("sha512").update(text).digest("hex").toUpperCase();
}
