import { readConfig } from "../environment.ts";
import { onHoldExpired } from "../handlers/release.ts";
import { invocation } from "../invocation.ts";
import { systemClock } from "../system-clock.ts";
import { wireRelease } from "../wiring.ts";

const { ports, telemetry } = wireRelease(readConfig(process.env));
export const handler = invocation(telemetry, systemClock, onHoldExpired(ports));
