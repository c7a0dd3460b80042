import { systemClock } from "../adapters/system-clock.ts";
import { readConfig } from "../environment.ts";
import { onNodeLaunched } from "../handlers/node-launched.ts";
import { invocation } from "../invocation.ts";
import { wire } from "../wiring.ts";

const { ports, telemetry } = wire(readConfig(process.env));
export const handler = invocation(telemetry, systemClock, onNodeLaunched(ports));
