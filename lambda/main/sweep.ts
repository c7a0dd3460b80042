import { systemClock } from "../adapters/system-clock.ts";
import { readConfig } from "../environment.ts";
import { onOverdueSwept } from "../handlers/overdue-swept.ts";
import { invocation } from "../invocation.ts";
import { wire } from "../wiring.ts";

const { ports, telemetry } = wire(readConfig(process.env));
export const handler = invocation(telemetry, systemClock, onOverdueSwept(ports));
