import { after, type Duration, seconds } from "../../lambda/core/duration.ts";
import type { AlarmClock, Cancel } from "../../local/holder/clock.ts";
import type { FakeEc2 } from "../fake-ec2.ts";
import type { FakeNodeClaims } from "../fake-node-claims.ts";

export type BurstsOptions = Readonly<{
  clock: AlarmClock;
  ec2: FakeEc2;
  nodeClaims: FakeNodeClaims;
  hold: Duration;
  notify: (text: string) => void;
}>;

const boot: Duration = seconds(10);
/** In parts of the hold: when the nodes of a burst are launched, and how long a job lasts. Each launch falls into the hold of the one before. */
const launchesAt = [0, 1 / 4, 1 / 2];
const jobLasts = 1 / 4;

/** The work of the served cluster: some launches one after the other, and a job on each new node. */
export class Bursts {
  readonly #options: BurstsOptions;
  readonly #planned = new Set<Cancel>();
  #count = 0;

  constructor(options: BurstsOptions) {
    this.#options = options;
  }

  begin(): void {
    for (const part of launchesAt) this.#in(part * this.#options.hold, () => this.launch());
  }

  /** Launches one node for a job. */
  launch(): void {
    const { clock, ec2, nodeClaims, hold, notify } = this.#options;
    const createdAt = clock.now();
    this.#count += 1;
    const { node: name, instance } = ec2.launch({ name: `new-node-${this.#count}`, joinsAfter: boot });
    nodeClaims.add({ name, createdAt, instance });
    this.#in(boot, () => {
      nodeClaims.use(name);
      notify(`a job starts on ${name}`);
    });
    this.#in(boot + jobLasts * hold, () => {
      nodeClaims.use(name);
      notify(`the job on ${name} is done`);
    });
  }

  stop(): void {
    for (const cancel of this.#planned) cancel();
  }

  #in(wait: Duration, action: () => void): void {
    const { clock } = this.#options;
    const cancel = clock.at(after(clock.now(), wait), async () => {
      this.#planned.delete(cancel);
      action();
    });
    this.#planned.add(cancel);
  }
}
