import { holdMessage, nameOfWindow, type Window } from "../../infra/settings/windows.ts";
import { after, parseDuration } from "../../lambda/core/duration.ts";
import type { Log } from "../../lambda/core/ports.ts";
import type { AlarmClock, Cancel } from "../holder/clock.ts";
import { readSchedule, type Schedule } from "./schedule.ts";

export type WindowsOptions = Readonly<{
  windows: readonly Window[];
  clock: AlarmClock;
  /** Sends a message to the launch queue. */
  send: (message: unknown) => void;
  log: Log;
}>;

type Planned = Readonly<{ window: Window; schedule: Schedule }>;

/** Holds in windows: sends what EventBridge Scheduler sends to a deployed holder each time that one begins. */
export class Windows {
  readonly #options: WindowsOptions;
  readonly #planned: readonly Planned[];
  readonly #timers = new Map<Window, Cancel>();

  constructor(options: WindowsOptions) {
    this.#options = options;
    this.#planned = options.windows.map((window) => ({
      window,
      schedule: readSchedule(window.schedule, window.timeZone),
    }));
  }

  /** Also continues windows that have begun: by its time, a message changes nothing where the hold is on already. */
  start(): void {
    const now = this.#options.clock.now();
    for (const { window, schedule } of this.#planned) {
      const { for: lasts, scope } = window;
      const next = schedule.next(now);
      this.#options.log.info("a window is set", { window: nameOfWindow(window), for: lasts, scope, next });
      this.#look({ window, schedule });
    }
  }

  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
  }

  #look(planned: Planned): void {
    const { clock, send } = this.#options;
    const { window, schedule } = planned;
    const now = clock.now();
    const begun = schedule.last(now);
    if (begun && after(begun, parseDuration(window.for) ?? 0) > now) {
      const at = begun.toISOString();
      send(holdMessage({ cause: "window", name: nameOfWindow(window), id: at, at }, window));
    }
    const next = schedule.next(now);
    if (next)
      this.#timers.set(
        window,
        clock.at(next, async () => this.#look(planned)),
      );
    else this.#timers.delete(window);
  }
}
