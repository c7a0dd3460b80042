import { OneShots } from "../local/holder/one-shots.ts";

/** One-shots as EventBridge Scheduler keeps them: a name that has fired stays taken. */
export class ScheduledOneShots extends OneShots {
  readonly fired = new Set<string>();

  protected override isTaken(name: string): boolean {
    return this.fired.has(name);
  }
}
