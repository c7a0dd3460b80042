import { expect, it } from "vitest";
import { awsFailure } from "../../lambda/aws/errors.ts";

it.each([new TypeError("a fault of ours"), "a text", null, undefined])(
  "what is no error of a service stays as it is: %s",
  (error) => {
    expect(awsFailure(error, "read the table", "Check that it exists.")).toBe(error);
  },
);
