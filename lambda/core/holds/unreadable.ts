import { BrokenSetupError } from "../errors.ts";
import type { Hold, ScopeRecord } from "./hold.ts";

/** What can be read of a record that cannot be read whole. */
export type Readable = Readonly<{
  /** The record without what cannot be read; its version is 0 where that is among it. */
  rest: ScopeRecord;
  hold?: Pick<Hold, "id" | "expiresAt">;
}>;

/** A record that another version or a hand has written; it is replaced when its scope is released by hand. */
export class UnreadableRecordError extends BrokenSetupError {
  readonly readable: Readable;

  constructor(message: string, readable: Readable, options?: ErrorOptions) {
    super(message, options);
    this.name = "UnreadableRecordError";
    this.readable = readable;
  }
}
