import { readConfig } from "../environment.ts";
import { onNodeLaunched } from "../handlers/hold.ts";
import { invocation } from "../invocation.ts";
import { systemClock } from "../system-clock.ts";
import { wire } from "../wiring.ts";

const { ports, telemetry, login } = wire(readConfig(process.env));
// The way into the cluster is found while EC2 is asked whose launch it is; who needs it and finds no way, reports it.
login.access().catch(() => {});
export const handler = invocation(telemetry, systemClock, onNodeLaunched(ports));
