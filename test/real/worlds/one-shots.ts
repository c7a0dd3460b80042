import { randomUUID } from "node:crypto";
import {
  CreateScheduleGroupCommand,
  DeleteScheduleCommand,
  GetScheduleCommand,
  ListSchedulesCommand,
  SchedulerClient,
} from "@aws-sdk/client-scheduler";
import type { Emulator } from "../emulator/emulator.ts";

export type OneShot = Readonly<{ Name: string; at: Date; payload: unknown }>;

/** A schedule group whose one-shots the test fires in its virtual time; for the emulator they are in the future. */
export class OneShots {
  readonly group = `faults-${randomUUID()}`;
  readonly #emulator: Emulator;

  private constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  static async open(emulator: Emulator): Promise<OneShots> {
    const oneShots = new OneShots(emulator);
    await oneShots.#client.send(new CreateScheduleGroupCommand({ Name: oneShots.group }));
    return oneShots;
  }

  async all(): Promise<readonly OneShot[]> {
    const GroupName = this.group;
    const { Schedules = [] } = await this.#client.send(new ListSchedulesCommand({ GroupName }));
    const details = Schedules.map(async ({ Name = "" }) => {
      const found = await this.#client.send(new GetScheduleCommand({ GroupName, Name }));
      const [, at] = /^at\((.+)\)$/.exec(found.ScheduleExpression ?? "") ?? [];
      return { Name, at: new Date(`${at}Z`), payload: JSON.parse(found.Target?.Input ?? "null") };
    });
    return Promise.all(details);
  }

  /** Removes a one-shot that has fired or is to be lost. */
  async delete(Name: string): Promise<void> {
    await this.#client.send(new DeleteScheduleCommand({ GroupName: this.group, Name }));
  }

  get #client(): SchedulerClient {
    return this.#emulator.client(SchedulerClient);
  }
}
