/**
 * Where a pod goes, or why it goes nowhere and who is to make place for it. Nothing is written here.
 *
 * Without extenders a decision is made in one go. With them it goes in the order of kube-scheduler: the node that the pod
 * waits for; the nodes that will do, and of those the ones that the extenders let it have; scores, if there is a choice;
 * and preemption, if there is none.
 */
import { type Clock, coreV1, policyV1, type Random } from "@berth/kube";
import type { LocalApi } from "../api/local-api.ts";
import { Attempt, type Scene } from "./attempt.ts";
import { bestNode, bestNodeByChance } from "./best-node.ts";
import type { Profile } from "./configuration.ts";
import { anyoneToPreempt, askToFilter, askToPreempt, askToPrioritize } from "./extenders/asking.ts";
import type { ConfiguredExtender } from "./extenders/extender.ts";
import { Failures } from "./failures.ts";
import { KnownNodes } from "./known-nodes.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";
import { budgetOf } from "./preemption/budgets.ts";
import type { Candidate } from "./preemption/candidate.ts";
import { pickCandidate } from "./preemption/pick-candidate.ts";
import { findCandidates, notEligible } from "./preemption/preemption.ts";
import type { Plugin } from "./rejection.ts";
import { scoresOf } from "./scoring.ts";

/** Why a pod is not scheduled. */
export interface Failure {
  readonly reason: "Unschedulable" | "SchedulerError";
  readonly message: string;
  /** The rules that rejected it. None if something went wrong. */
  readonly plugins: ReadonlySet<Plugin>;
  /** Where it waits for place from now on: "" is nowhere, `undefined` is where it waits already. */
  readonly nominated: string | undefined;
  /** Who is to make place. */
  readonly candidate?: Candidate;
}

export type Decision = NodeInfo | Failure;

export function isFailure(decision: Decision): decision is Failure {
  return "reason" in decision;
}

/** Something went wrong: nothing is known about the pod. */
export function failed(error: unknown): Failure {
  return { reason: "SchedulerError", message: messageOf(error), plugins: new Set(), nominated: "" };
}

const NO_NODES: Failure = {
  reason: "Unschedulable",
  message: "no nodes available to schedule pods",
  plugins: new Set(),
  nominated: "",
};

export interface DecisionOptions {
  readonly api: LocalApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly scene: Scene;
  readonly extenders: readonly ConfiguredExtender[];
  /** While somebody is asked, what else happens has to wait. */
  ask<T>(question: () => Promise<T>): Promise<T>;
}

export class Decisions {
  readonly #options: DecisionOptions;
  readonly #scene: Scene;
  readonly #failures: Failures<Failure>;
  readonly #known: KnownNodes;
  /** Where the next search for nodes begins. */
  #start = 0;

  constructor(options: DecisionOptions) {
    this.#options = options;
    this.#scene = options.scene;
    this.#failures = new Failures(options.scene.cache, options.scene.nominator);
    this.#known = new KnownNodes(options.scene);
  }

  /** For a scheduler without extenders. */
  decide(pod: PodInfo, profile: Profile): Decision {
    const known = this.#failures.get(pod);
    if (known) return known;
    const decision = this.#decide(pod, profile);
    if (isFailure(decision) && !decision.candidate) this.#failures.set(pod, decision);
    return decision;
  }

  #decide(pod: PodInfo, profile: Profile): Decision {
    const { cache } = this.#scene;
    if (cache.nodes.length === 0) return NO_NODES;
    const known = this.#known.find(pod, profile, this.#start);
    if (known) {
      this.#start = (this.#start + known.looked) % cache.nodes.length;
      return known.node;
    }
    const attempt = new Attempt(pod, profile, this.#scene);
    const nominated = attempt.nominated();
    if (nominated) return nominated;
    const nodes = this.#search(attempt);
    if (nodes.length === 1) return nodes[0] as NodeInfo;
    if (nodes.length > 1) return bestNode(nodes, this.#scores(attempt, nodes));
    const candidates = this.#candidates(attempt);
    return "reason" in candidates ? candidates : this.#preempt(attempt, candidates);
  }

  async decideWithExtenders(info: PodInfo, profile: Profile): Promise<Decision> {
    const { extenders, random, ask } = this.#options;
    if (this.#scene.cache.nodes.length === 0) return NO_NODES;
    const { pod } = info;
    const attempt = new Attempt(info, profile, this.#scene);
    const note = attempt.diagnosis.note.bind(attempt.diagnosis);
    const nominated = attempt.nominated();
    if (nominated) {
      const left = await ask(() => askToFilter(extenders, pod, [nominated], note)).catch(() => []);
      if (left[0]) return left[0];
    }
    const found = this.#search(attempt);
    try {
      const nodes = await ask(() => askToFilter(extenders, pod, found, note));
      if (nodes.length !== found.length) attempt.diagnosis.plugins.add("Extender");
      if (nodes.length === 1) return nodes[0] as NodeInfo;
      if (nodes.length > 1) {
        const scores = this.#scores(attempt, nodes);
        const more = await ask(() => askToPrioritize(extenders, pod, nodes));
        for (const [index, { name }] of nodes.entries()) scores[index] = (scores[index] ?? 0) + (more.get(name) ?? 0);
        return bestNodeByChance(nodes, scores, random);
      }
    } catch (error) {
      return failed(error);
    }
    const candidates = this.#candidates(attempt);
    if ("reason" in candidates) return candidates;
    if (!anyoneToPreempt(extenders, pod)) return this.#preempt(attempt, candidates);
    try {
      const nodeOf = (name: string) => this.#scene.cache.node(name);
      return this.#preempt(attempt, await ask(() => askToPreempt(extenders, pod, candidates, nodeOf)));
    } catch (error) {
      return this.#failedToHelp(attempt, messageOf(error));
    }
  }

  #search(attempt: Attempt): readonly NodeInfo[] {
    const nodes = attempt.find(this.#start);
    this.#start = (this.#start + nodes.length + attempt.diagnosis.size) % this.#scene.cache.nodes.length;
    return nodes;
  }

  #scores({ pod, profile, checks }: Attempt, nodes: readonly NodeInfo[]): number[] {
    const { cache, around } = this.#scene;
    return scoresOf(pod, nodes, checks?.required, profile, cache, around);
  }

  /** Where others could make place; or why not. */
  #candidates(attempt: Attempt): readonly Candidate[] | Failure {
    const { pod: info, profile, diagnosis, checks } = attempt;
    const { cache, nominator } = this.#scene;
    const { api, clock, random } = this.#options;
    // What claims a pod has is found out after that, and asked for here: kube-scheduler stumbles over it.
    if (!checks && profile.speaksOfClaims) return this.#unschedulable(attempt, "not found", undefined);
    if (!profile.preempts) return this.#notHelped(attempt, [], profile.speaksOfClaims ? undefined : "");
    const pod = api.get(coreV1.Pod, info);
    if (!pod) return this.#failedToHelp(attempt, `pod ${JSON.stringify(info.name)} not found`);
    const why = notEligible(pod, { diagnosis, cache });
    if (why !== undefined) return this.#notHelped(attempt, [`preemption: ${why}`], undefined);
    const budgets = () => api.list(policyV1.PodDisruptionBudget).map(budgetOf);
    const now = clock.now();
    const found = findCandidates({ checks, diagnosis, cache, nominator, profile, budgets, random, now });
    if (!("why" in found)) return found;
    if (found.error) return this.#failedToHelp(attempt, found.why);
    return this.#notHelped(attempt, [`preemption: ${found.why}`], "");
  }

  #preempt(attempt: Attempt, candidates: readonly Candidate[]): Failure {
    const { clock, random } = this.#options;
    const candidate = pickCandidate(candidates, clock.now(), random);
    if (!candidate) return this.#notHelped(attempt, ["preemption: no candidate node for preemption"], undefined);
    return { ...this.#unschedulable(attempt, "", candidate.node), candidate };
  }

  /** Nothing can be done for the pod. @param nominated - Where it waits from now on. */
  #notHelped(attempt: Attempt, reasons: readonly string[], nominated: string | undefined): Failure {
    const claims = attempt.profile.speaksOfClaims ? ["no new claims to deallocate"] : [];
    return this.#unschedulable(attempt, [...claims, ...reasons].join(", "), nominated);
  }

  /** Something went wrong when something was to be done for the pod. */
  #failedToHelp(attempt: Attempt, problem: string): Failure {
    return this.#unschedulable(attempt, `preemption: ${problem}`, undefined);
  }

  #unschedulable({ diagnosis }: Attempt, afterwards: string, nominated: string | undefined): Failure {
    diagnosis.afterwards = afterwards;
    const message = diagnosis.message(this.#scene.cache.nodes.length);
    return { reason: "Unschedulable", message, plugins: diagnosis.plugins, nominated };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
