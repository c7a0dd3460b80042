import { ArnFormat, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { functionName, type Part } from "../names.ts";

/** The ARN of one of the holder's functions by its name, for what must name a function before it exists. */
export const functionArn = (scope: Construct, name: string, part: Part): string =>
  Stack.of(scope).formatArn({
    service: "lambda",
    resource: "function",
    resourceName: functionName(name, part),
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
