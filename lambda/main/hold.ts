import { readConfig } from "../environment.ts";
import { orCheck } from "../handlers/check.ts";
import { onNodeLaunched } from "../handlers/hold.ts";
import { invocation } from "../invocation.ts";
import { systemClock } from "../system-clock.ts";
import { wire } from "../wiring.ts";

const { ports, inspection, telemetry, login } = wire(readConfig(process.env));
// Log in to the cluster while EC2 describes the instances. If this fails, the first call to the cluster reports it.
login.access().catch(() => {});
export const handler = invocation(telemetry, systemClock, orCheck(ports, inspection, onNodeLaunched(ports)));
