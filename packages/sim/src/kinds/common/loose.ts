/** Kubernetes' types as clients fill them in: any field may be missing, and any text may stand where one of a few should. */
import type { ObjectMeta } from "@berth/kube";

export type Loose<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? Loose<Item>[]
    : T extends object
      ? { -readonly [Key in keyof T]?: Loose<T[Key]> }
      : T;

/** A whole object of a kind, before anybody has looked at it. */
export type LooseObject<T> = Omit<Loose<T>, "metadata"> & { metadata: ObjectMeta };
