/**
 * One of several replicas works, the others wait: a Lease in the cluster says which.
 *
 * Guarantees (the numbers are those of SPEC.md):
 * - L1 At most one replica believes that it leads, as long as their clocks run at about the same speed: whoever cannot
 *   renew stops believing it `leaseDuration - renewDeadline` before anybody else may take over.
 * - L2 A leader that stops lets go of the lease, so that the next one need not wait for its end.
 * - L3 A replica judges a lease's age by its own clock, from when it saw it change: clocks need not agree.
 */
import type { Client } from "../client/client.ts";
import { KubeError } from "../errors.ts";
import { Lease } from "../kinds/coordination-v1.ts";
import { type Logger, silent } from "../log/logger.ts";
import type { ObjectKey } from "../objects/key.ts";
import { microTime } from "../objects/times.ts";
import { type Clock, sleep } from "../time/clock.ts";
import { orAborted } from "../time/or-aborted.ts";
import { jitter, type Random } from "../time/random.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../transport/api-error.ts";

/** Which lease, and how long things may take. */
export interface LeaderElectionOptions {
  /** The name of the Lease: the same for all replicas, and no other program's. */
  readonly id: string;
  /** Default: the connection's. */
  readonly namespace?: string;
  /** Who we are: different for each replica. Default: the host's name and some chance. */
  readonly identity?: string;
  /** After how long without renewal others may take over. Default: 15 s. */
  readonly leaseDurationMs?: number;
  /** After how long without renewal we stop. Must be less. Default: 10 s. */
  readonly renewDeadlineMs?: number;
  /** How often to renew, and to look whether the lease is free. Default: 2 s. */
  readonly retryPeriodMs?: number;
  /** Whether to let go of the lease at the end. Default: yes. */
  readonly releaseOnStop?: boolean;
}

/** What an elector needs from its surroundings; a manager has it. */
export interface LeaderElectorContext {
  /** Must not be fenced by this election, nor wait for others: see `urgentTransport`. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly identity: string;
  readonly log?: Logger;
  /** Told when we begin and cease to lead. */
  readonly onChange?: (leading: boolean) => void;
  /** Told of renewals that had to read the lease first. */
  readonly onSlowpath?: () => void;
}

/** Whose a lease is, which has not changed for so many milliseconds. Pure. */
export function judge(lease: Lease, identity: string, ageMs: number): "ours" | "free" | "held" {
  const { holderIdentity, leaseDurationSeconds = 0 } = lease.spec ?? {};
  if (!holderIdentity) return "free";
  if (holderIdentity === identity) return "ours";
  return ageMs >= leaseDurationSeconds * 1000 ? "free" : "held";
}

/** A moment by two clocks, one of which may be set, the other of which may sleep. */
interface Moment {
  readonly now: number;
  readonly steady: number;
}

const LONG_AGO: Moment = { now: Number.NEGATIVE_INFINITY, steady: Number.NEGATIVE_INFINITY };

/** Takes part in one election. */
export class LeaderElector {
  readonly #options: LeaderElectionOptions;
  readonly #context: LeaderElectorContext;
  readonly #log: Logger;
  readonly #key: Required<ObjectKey> & { readonly namespace: string };
  /** The lease as we last saw or wrote it, and when we first saw it so. */
  #lease: Lease | undefined;
  #observed: Moment = LONG_AGO;
  /** When the last successful renewal was *begun*: from then on the lease's duration counts for the others at the latest. */
  #renewed: Moment = LONG_AGO;
  #leading = false;

  constructor(options: LeaderElectionOptions, context: LeaderElectorContext) {
    this.#options = options;
    this.#context = context;
    this.#log = (context.log ?? silent).with({ lease: options.id, identity: context.identity });
    this.#key = { namespace: options.namespace ?? context.client.transport.namespace, name: options.id };
    if (this.#renewDeadline >= this.#leaseDuration || this.#retryPeriod >= this.#renewDeadline) {
      throw new KubeError(
        "KUBE_MANAGER_MISUSED",
        "a leader's retryPeriodMs must be less than its renewDeadlineMs, and that less than its leaseDurationMs",
      );
    }
  }

  get #leaseDuration(): number {
    return this.#options.leaseDurationMs ?? 15_000;
  }

  get #renewDeadline(): number {
    return this.#options.renewDeadlineMs ?? 10_000;
  }

  get #retryPeriod(): number {
    return this.#options.retryPeriodMs ?? 2_000;
  }

  /** Whether we lead at this very moment: a process that was asleep for a minute does not, before it has noticed. */
  get isLeading(): boolean {
    return this.#leading && this.#left() > 0;
  }

  /** For how much longer we may lead without renewing. Whichever clock says less. */
  #left(): number {
    return this.#renewDeadline - Math.max(...this.#since(this.#renewed));
  }

  #since({ now, steady }: Moment): [number, number] {
    const { clock } = this.#context;
    return [clock.now() - now, clock.steady() - steady];
  }

  #moment(): Moment {
    const { clock } = this.#context;
    return { now: clock.now(), steady: clock.steady() };
  }

  /** Resolves when we lead. */
  async acquire(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#context;
    this.#log.info("waiting to lead");
    while (!(await this.#try(signal))) {
      await sleep(clock, jitter(random, this.#retryPeriod, 0.2), signal);
    }
    this.#leading = true;
    this.#context.onChange?.(true);
    this.#log.info("leading");
  }

  /** Renews for as long as that works. Rejects with KUBE_LEADERSHIP_LOST, or with the signal's reason. */
  async hold(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    try {
      for (;;) {
        this.#mustLead();
        await sleep(clock, Math.min(this.#retryPeriod, this.#left()), signal);
        this.#mustLead(); // the sleep may have been longer than it was meant to be
        await this.#try(signal, this.#left());
      }
    } finally {
      this.#leading = false;
      this.#context.onChange?.(false);
    }
  }

  #mustLead(): void {
    if (this.#left() > 0 && (!this.#lease || this.#isOurs())) return;
    throw new KubeError("KUBE_LEADERSHIP_LOST", `the lease ${this.#options.id} could not be renewed in time`);
  }

  /** Lets others lead at once. */
  async release(): Promise<void> {
    this.#leading = false;
    if (this.#options.releaseOnStop === false || !this.#lease || !this.#isOurs()) return;
    try {
      await this.#giveUp(this.#lease).catch(async (error) => {
        if (!isConflict(error)) throw error;
        // A renewal of ours was carried out although we did not wait for its answer.
        const lease = await this.#context.client.get(Lease, this.#key);
        if (lease.spec?.holderIdentity === this.#context.identity) await this.#giveUp(lease);
      });
      this.#log.info("let go of the lease");
    } catch (error) {
      this.#log.warn("the lease could not be let go of; it ends by itself", { error });
    }
  }

  async #giveUp(lease: Lease): Promise<void> {
    const renewTime = microTime(this.#context.clock.now());
    const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime };
    await this.#context.client.update(Lease, { ...lease, spec });
  }

  #isOurs(): boolean {
    return this.#lease?.spec?.holderIdentity === this.#context.identity;
  }

  /** Tries once to get or renew the lease. Never throws but for the signal. */
  async #try(signal: AbortSignal, limitMs = this.#renewDeadline): Promise<boolean> {
    const { clock } = this.#context;
    const late = new AbortController();
    const timer = clock.setTimer(limitMs, () => late.abort(new Error("the API server took too long")));
    const begun = this.#moment();
    try {
      // Waited for no longer than that, also if the request itself cannot be stopped.
      const written = await orAborted(this.#write(AbortSignal.any([signal, late.signal])), signal, late.signal);
      if (written) this.#renewed = begun;
      return written;
    } catch (error) {
      signal.throwIfAborted();
      // Somebody was faster, or has removed it: look again.
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) this.#lease = undefined;
      else this.#log.warn("the lease could not be read or written", { error });
      return false;
    } finally {
      timer.cancel();
    }
  }

  async #write(signal: AbortSignal): Promise<boolean> {
    const { client, clock, identity } = this.#context;
    // As long as we lead, what we wrote last is what is there; anything else is a conflict.
    if (!this.#lease || !this.#isOurs()) {
      this.#context.onSlowpath?.();
      const found = await client.find(Lease, this.#key, { signal });
      if (!found) {
        const spec = { ...this.#claim(), acquireTime: microTime(clock.now()), leaseTransitions: 0 };
        this.#lease = await client.create(Lease, { metadata: { ...this.#key }, spec }, { signal });
        return true;
      }
      if (found.metadata.resourceVersion !== this.#lease?.metadata.resourceVersion) {
        this.#lease = found;
        // After the answer: it may have been long on its way, and then the lease is younger than the question.
        this.#observed = this.#moment();
      }
    }
    const lease = this.#lease as Lease;
    const standing = judge(lease, identity, Math.min(...this.#since(this.#observed)));
    if (standing === "held") return false;
    const taking = standing === "free" && {
      acquireTime: microTime(clock.now()),
      leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + 1,
    };
    const spec = { ...lease.spec, ...this.#claim(), ...taking };
    this.#lease = await client.update(Lease, { ...lease, spec }, { signal });
    return true;
  }

  #claim() {
    return {
      holderIdentity: this.#context.identity,
      leaseDurationSeconds: Math.ceil(this.#leaseDuration / 1000),
      renewTime: microTime(this.#context.clock.now()),
    };
  }
}
