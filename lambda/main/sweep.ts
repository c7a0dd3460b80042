import { readConfig } from "../environment.ts";
import { orCheck } from "../handlers/check.ts";
import { onSweepDue } from "../handlers/sweep.ts";
import { invocation } from "../invocation.ts";
import { systemClock } from "../system-clock.ts";
import { wire } from "../wiring.ts";

const { ports, inspection, telemetry } = wire(readConfig(process.env));
export const handler = invocation(telemetry, systemClock, orCheck(ports, inspection, onSweepDue(ports)));
