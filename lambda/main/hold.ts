import { systemClock } from "../adapters/system-clock.ts";
import { readConfig } from "../environment.ts";
import { onNodeLaunched } from "../handlers/node-launched.ts";
import { invocation } from "../invocation.ts";
import { wire } from "../wiring.ts";

const { ports, telemetry, login } = wire(readConfig(process.env));
// The way into the cluster is found while EC2 is asked whose launch it is; who needs it and finds no way, tells it.
login.access().catch(() => {});
export const handler = invocation(telemetry, systemClock, onNodeLaunched(ports));
