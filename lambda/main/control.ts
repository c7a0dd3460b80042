import { systemClock } from "../adapters/system-clock.ts";
import { readConfig } from "../environment.ts";
import { onOperatorAsked } from "../handlers/operator-asked.ts";
import { invocation } from "../invocation.ts";
import { wireControl } from "../wiring.ts";

const { ports, telemetry, inspection } = wireControl(readConfig(process.env));
export const handler = invocation(telemetry, systemClock, onOperatorAsked(ports, inspection));
