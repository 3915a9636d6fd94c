/**
 * Which scheduler has a testbed: a Lease says so, for all replicas of the gateway and after a restart of it. It also remembers
 * roughly how far the turns have come.
 */
import { type Client, type Clock, coordinationV1, isAlreadyExists, isConflict, microTime } from "@berth/kube";
import { GatewayError } from "../errors.ts";
import { annotation } from "../names.ts";
import { LEASE_LABELS, type World } from "../world.ts";

/** Who has a testbed, and how far the turns had come when it was last written down. */
export interface Tenure {
  readonly scheduler: string;
  readonly turn: number;
}

export interface Tenures {
  /** Takes a testbed for a scheduler, or keeps it. Rejects with BERTH_TESTBED_TAKEN. */
  take(testbed: string, scheduler: string): Promise<Tenure>;
  /** It is still there, and has come so far. `false` if another process has taken over. */
  renew(testbed: string, scheduler: string, turn: number): Promise<boolean>;
  end(testbed: string, scheduler: string): Promise<void>;
  holderOf(testbed: string): string | undefined;
  /** Calls back whenever a testbed may have another scheduler than before, or none. */
  onChange(listener: () => void): void;
}

/** For a gateway that is the only one, and ends with its cluster: nothing is written down. */
export class MemoryTenures implements Tenures {
  readonly #holders = new Map<string, string>();
  readonly #listeners: (() => void)[] = [];

  async take(testbed: string, scheduler: string): Promise<Tenure> {
    const holder = this.#holders.get(testbed);
    if (holder !== undefined && holder !== scheduler) throw taken(testbed, holder);
    this.#holders.set(testbed, scheduler);
    this.#tell();
    return { scheduler, turn: 0 };
  }

  async renew(): Promise<boolean> {
    return true;
  }

  async end(testbed: string, scheduler: string): Promise<void> {
    if (this.#holders.get(testbed) !== scheduler) return;
    this.#holders.delete(testbed);
    this.#tell();
  }

  holderOf(testbed: string): string | undefined {
    return this.#holders.get(testbed);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

export interface LeaseTenuresOptions {
  readonly client: Client;
  readonly world: World;
  readonly clock: Clock;
  /** Of this gateway, among its replicas. */
  readonly identity: string;
  readonly seconds: number;
}

export class LeaseTenures implements Tenures {
  readonly #options: LeaseTenuresOptions;

  constructor(options: LeaseTenuresOptions) {
    this.#options = options;
  }

  async take(testbed: string, scheduler: string): Promise<Tenure> {
    const { client, world } = this.#options;
    const key = world.key(leaseName(testbed));
    for (;;) {
      const lease = await client.find(coordinationV1.Lease, key);
      const holder = lease && this.#holderOf(lease);
      if (holder !== undefined && holder !== scheduler) throw taken(testbed, holder);
      const isNew = lease?.spec?.holderIdentity !== scheduler;
      const turn = isNew ? 0 : Number(lease?.metadata.annotations?.[annotation.turn] ?? 0);
      const transitions = (lease?.spec?.leaseTransitions ?? 0) + (isNew ? 1 : 0);
      const wanted = this.#lease(testbed, scheduler, turn, transitions, lease);
      try {
        if (lease) await client.update(coordinationV1.Lease, wanted);
        else await client.create(coordinationV1.Lease, wanted);
        return { scheduler, turn };
      } catch (error) {
        if (!isConflict(error) && !isAlreadyExists(error)) throw error; // somebody was quicker: perhaps for the same scheduler
      }
    }
  }

  async renew(testbed: string, scheduler: string, turn: number): Promise<boolean> {
    const { client, world, identity } = this.#options;
    const lease = await client.find(coordinationV1.Lease, world.key(leaseName(testbed)));
    const isOurs = lease?.metadata.annotations?.[annotation.gateway] === identity;
    if (!lease || !isOurs || lease.spec?.holderIdentity !== scheduler) return false;
    const wanted = this.#lease(testbed, scheduler, turn, lease.spec.leaseTransitions ?? 0, lease);
    try {
      await client.update(coordinationV1.Lease, wanted);
      return true;
    } catch (error) {
      if (isConflict(error)) return this.renew(testbed, scheduler, turn);
      throw error;
    }
  }

  async end(testbed: string, scheduler: string): Promise<void> {
    const { client, world } = this.#options;
    const key = world.key(leaseName(testbed));
    const lease = await client.find(coordinationV1.Lease, key);
    if (lease?.spec?.holderIdentity !== scheduler) return;
    await client.patch(coordinationV1.Lease, key, { merge: { spec: { leaseDurationSeconds: 1, renewTime: null } } });
  }

  holderOf(testbed: string): string | undefined {
    const lease = this.#options.world.leases.get(this.#options.world.key(leaseName(testbed)));
    return lease && this.#holderOf(lease);
  }

  onChange(listener: () => void): void {
    this.#options.world.leases.addEventHandler({ onAdd: listener, onUpdate: listener, onDelete: listener });
  }

  /** Who has it, unless nothing was heard of him for too long. */
  #holderOf({ spec }: coordinationV1.Lease): string | undefined {
    if (!spec?.holderIdentity || spec.renewTime === undefined || spec.renewTime === null) return undefined;
    const until = Date.parse(spec.renewTime) + (spec.leaseDurationSeconds ?? 0) * 1000;
    return until > this.#options.clock.now() ? spec.holderIdentity : undefined;
  }

  #lease(
    testbed: string,
    scheduler: string,
    turn: number,
    leaseTransitions: number,
    before: coordinationV1.Lease | undefined,
  ): coordinationV1.Lease {
    const { world, clock, identity, seconds } = this.#options;
    return {
      ...before,
      metadata: {
        ...before?.metadata,
        ...world.key(leaseName(testbed)),
        labels: { ...before?.metadata.labels, ...LEASE_LABELS },
        annotations: {
          ...before?.metadata.annotations,
          [annotation.turn]: String(turn),
          [annotation.gateway]: identity,
        },
      },
      spec: {
        holderIdentity: scheduler,
        leaseDurationSeconds: seconds,
        renewTime: microTime(clock.now()),
        leaseTransitions,
      },
    };
  }
}

function leaseName(testbed: string): string {
  return `berth-testbed-${testbed}`;
}

function taken(testbed: string, holder: string): GatewayError {
  return new GatewayError("BERTH_TESTBED_TAKEN", `scheduler ${holder} has testbed ${testbed}`, {
    details: { scheduler: holder },
  });
}
