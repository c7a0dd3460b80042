import { readConfig, scheduleAlias } from "../environment.ts";
import { orCheck } from "../handlers/check.ts";
import { onOneShot, onRelease } from "../handlers/release.ts";
import { type InvocationContext, invocation } from "../invocation.ts";
import { systemClock } from "../system-clock.ts";
import { wireRelease } from "../wiring.ts";

type Invoked = InvocationContext & Readonly<{ invokedFunctionArn: string }>;

const { ports, inspection, telemetry } = wireRelease(readConfig(process.env));
const bySchedule = invocation(telemetry, systemClock, onOneShot(ports));
const byAnyone = invocation(telemetry, systemClock, orCheck(ports, inspection, onRelease(ports)));

export const handler = (event: unknown, context: Invoked) =>
  (context.invokedFunctionArn.endsWith(`:${scheduleAlias}`) ? bySchedule : byAnyone)(event, context);
