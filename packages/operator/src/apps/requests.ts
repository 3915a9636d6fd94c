/**
 * Makes a pod ask for exactly what a slot has: one of its containers, the main one, gets what the others leave. Pure.
 *
 * A slot is held by a ghost of its size. An executor that asked for more might not fit in its place; one that asked for less
 * would leave room that somebody else could take, and the ghost would not fit in again.
 */
import { type coreV1, Quantity } from "@berth/kube";
import { quantityAt, textsAt, without } from "./reading.ts";
import { refuse } from "./refusal.ts";

/** Amounts by the names of resources. */
export type Amounts = ReadonlyMap<string, Quantity>;

interface Asked {
  readonly who: string;
  readonly amounts: Amounts;
}

/** What a container asks for: a limit stands for a request that is missing, as the API server does it. */
export function askedBy({ resources }: coreV1.Container, path: string): Amounts {
  const { requests, limits } = { requests: resources?.requests, limits: resources?.limits };
  const texts = {
    ...textsAt(limits, `${path}.resources.limits`),
    ...textsAt(requests, `${path}.resources.requests`),
  };
  return new Map(Object.entries(texts).map(([name, text]) => [name, quantityAt(text, `${path}.resources (${name})`)]));
}

/**
 * What the other containers leave of a slot for the main one. Init containers come before them, and need no more than a slot
 * has; those that run on beside the others count like them.
 */
export function leftFor(main: coreV1.Container, spec: coreV1.PodSpec, slot: Amounts, path: string): Amounts {
  const asked = (container: coreV1.Container, list: string): Asked => ({
    who: `container "${container.name}"`,
    amounts: askedBy(container, `${path}.${list} "${container.name}"`),
  });
  const beside: Asked[] = [];
  for (const container of spec.initContainers ?? []) {
    const its = asked(container, "initContainers");
    if (container.restartPolicy === "Always") beside.push(its);
    else requireRoom(slot, [...beside, its]);
  }
  beside.push(...spec.containers.filter((each) => each !== main).map((each) => asked(each, "containers")));
  requireRoom(slot, beside);

  const left = new Map<string, Quantity>();
  for (const [name, amount] of slot) {
    const rest = amount.minus(sum(beside, name));
    const isNeeded = name === "cpu" || name === "memory";
    if (isNeeded && rest.isZero) tooLarge(name, slot, beside, `, and leaves nothing for container "${main.name}"`);
    if (!rest.isZero) left.set(name, rest);
  }
  return left;
}

/** The main container, which asks for all that is left to it. */
export function fitted(main: coreV1.Container, left: Amounts, slot: Amounts, path: string): coreV1.Container {
  for (const [name, amount] of askedBy(main, path)) {
    // Where it gets a request, a limit of its own may be higher.
    if (left.has(name) && main.resources?.requests?.[name] === undefined) continue;
    const most = left.get(name) ?? Quantity.zero;
    if (amount.compare(most) <= 0) continue;
    const whole = slot.get(name) ?? Quantity.zero;
    const others = whole.minus(most);
    const sumText = others.isZero ? "" : `; its other containers ask for ${others}, which leaves ${most}`;
    refuse(
      "BERTH_APPLICATION_TOO_LARGE",
      `${path} asks for ${amount} of ${name}, but a slot has ${whole}${sumText}. Ask for less, or for nothing: it gets what is left`,
    );
  }
  const limits = textsAt(main.resources?.limits, `${path}.resources.limits`);
  // A request of nothing stays: without it the API server would take the limit for it.
  const requests = textsAt(main.resources?.requests, `${path}.resources.requests`);
  for (const [name, amount] of left) {
    requests[name] = amount.toString();
    if (isWholeOrNothing(name)) limits[name] = amount.toString();
    else requireLimit(limits[name], name, amount, `${path}.resources.limits`);
  }
  const resources = { ...without(main.resources ?? {}, "limits"), requests };
  return { ...main, resources: Object.keys(limits).length > 0 ? { ...resources, limits } : resources };
}

/** Refuses a limit below what is to be asked for, which no pod may have. */
export function requireLimit(limit: string | undefined, name: string, request: Quantity, path: string): void {
  if (limit === undefined || quantityAt(limit, path).compare(request) >= 0) return;
  refuse(
    "BERTH_APPLICATION_TOO_SMALL",
    `${path} allows ${limit} of ${name}, but an executor has to ask for ${request}, so that it fills its slot: raise the limit or remove it`,
  );
}

/** Refuses an amount that is asked for elsewhere than in a container, if the slot has less. */
export function requireAtMost(amount: Quantity, name: string, left: Amounts, path: string): void {
  const most = left.get(name) ?? Quantity.zero;
  if (amount.compare(most) <= 0) return;
  refuse("BERTH_APPLICATION_TOO_LARGE", `${path} asks for ${amount} of ${name}, but a slot has ${most} left for it`);
}

/** What a slot has, as amounts. */
export function amountsOf(resources: Readonly<Record<string, string>>): Amounts {
  return new Map(Object.entries(resources).map(([name, text]) => [name, quantityAt(text, `the slot's ${name}`)]));
}

/** Devices and huge pages are not lent: for them Kubernetes wants a limit that equals the request. */
function isWholeOrNothing(name: string): boolean {
  return name.includes("/") || name.startsWith("hugepages-");
}

function requireRoom(slot: Amounts, asked: readonly Asked[]): void {
  for (const name of new Set(asked.flatMap(({ amounts }) => [...amounts.keys()]))) {
    if (sum(asked, name).compare(slot.get(name) ?? Quantity.zero) > 0) tooLarge(name, slot, asked, "");
  }
}

function tooLarge(name: string, slot: Amounts, asked: readonly Asked[], consequence: string): never {
  const parts = asked.flatMap(({ who, amounts }) => {
    const amount = amounts.get(name);
    return amount === undefined || amount.isZero ? [] : [`${who} ${amount}`];
  });
  const total = parts.length > 1 ? ` = ${sum(asked, name)}` : "";
  refuse(
    "BERTH_APPLICATION_TOO_LARGE",
    `an executor does not fit into a slot, which has ${slot.get(name) ?? 0} of ${name}: ${parts.join(" + ")}${total}${consequence}`,
  );
}

function sum(asked: readonly Asked[], name: string): Quantity {
  return asked.reduce((total, { amounts }) => total.plus(amounts.get(name) ?? Quantity.zero), Quantity.zero);
}
