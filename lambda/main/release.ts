import { systemClock } from "../adapters/system-clock.ts";
import { readConfig } from "../environment.ts";
import { onHoldExpired } from "../handlers/hold-expired.ts";
import { invocation } from "../invocation.ts";
import { wireRelease } from "../wiring.ts";

const { ports, telemetry } = wireRelease(readConfig(process.env));
export const handler = invocation(telemetry, systemClock, onHoldExpired(ports));
