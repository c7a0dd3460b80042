import { holderName } from "../core/marks/keys.ts";

/** Who has the holder's rights in a cluster: the members of a group, or one service account. */
export type Subject =
  | Readonly<{ kind: "Group"; name: string }>
  | Readonly<{ kind: "ServiceAccount"; name: string; namespace: string }>;

/** The functions log in as its members; users of `run` can be put into it. */
export const holderGroup: Subject = { kind: "Group", name: holderName };
