import {
  CloudWatchClient,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
} from "@aws-sdk/client-cloudwatch";
import { alarmName } from "../../../infra/names.ts";
import type { Emulator } from "../emulator/emulator.ts";
import { patience, until } from "../engines/processes.ts";

/** The alarms of one cluster's holder. */
export class Watch {
  /** With which their names begin. */
  readonly #prefix: string;
  readonly #cloudWatch: CloudWatchClient;

  constructor(emulator: Emulator, cluster: string) {
    this.#prefix = alarmName(cluster, "");
    this.#cloudWatch = emulator.client(CloudWatchClient);
  }

  async states(): Promise<Readonly<Record<string, string>>> {
    const command = new DescribeAlarmsCommand({ AlarmNamePrefix: this.#prefix });
    const { MetricAlarms = [] } = await this.#cloudWatch.send(command);
    return Object.fromEntries(
      MetricAlarms.map(({ AlarmName = "", StateValue = "" }) => [
        AlarmName.slice(this.#prefix.length),
        StateValue,
      ]),
    );
  }

  /** Those that went on at any time. */
  async everOn(): Promise<readonly string[]> {
    const command = new DescribeAlarmHistoryCommand({ HistoryItemType: "StateUpdate" });
    const { AlarmHistoryItems = [] } = await this.#cloudWatch.send(command);
    const on = AlarmHistoryItems.filter(({ HistorySummary = "" }) => HistorySummary.endsWith("to ALARM"));
    return on.flatMap(({ AlarmName = "" }) => (AlarmName.startsWith(this.#prefix) ? [AlarmName] : []));
  }

  /** Waits until exactly these alarms are on. */
  async untilOn(...names: readonly string[]): Promise<void> {
    let on = "";
    const wanted = names.toSorted().join();
    try {
      const areOn = async () => {
        const states = Object.entries(await this.states());
        on = states
          .flatMap(([name, state]) => (state === "ALARM" ? [name] : []))
          .sort()
          .join();
        return on === wanted;
      };
      await until("alarms", areOn, patience, 250);
    } catch (error) {
      throw new Error(`not [${wanted}] but [${on}] are on`, { cause: error });
    }
  }
}
