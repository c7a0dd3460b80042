import { readConfig } from "../environment.ts";
import { onControlRequest } from "../handlers/control.ts";
import { invocation } from "../invocation.ts";
import { systemClock } from "../system-clock.ts";
import { wire } from "../wiring.ts";

const { ports, telemetry, inspection } = wire(readConfig(process.env));
export const handler = invocation(telemetry, systemClock, onControlRequest(ports, inspection));
