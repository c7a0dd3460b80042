import { describe, expect, it } from "vitest";
import { awsFailure } from "../../lambda/aws/errors.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";

const failure = (error: unknown) => awsFailure(error, "read the table", "Check that it exists.");
const answered = (name: string, httpStatusCode: number) =>
  Object.assign(new Error("no"), { name, $fault: "client", $metadata: { httpStatusCode } });

describe("an error of AWS", () => {
  it.each([
    ["ThrottlingException", 400],
    ["RequestLimitExceeded", 503],
    ["InternalServerException", 500],
  ])("is transient: %s with %i", (name, status) => {
    const error = answered(name, status);
    expect(failure(error)).toEqual(new TryAgainError("Cannot read the table now: no"));
    expect(failure(error)).toMatchObject({ cause: error });
  });

  it.each([
    ["AccessDeniedException", 403],
    ["KmsAccessDenied", 400],
    ["UnrecognizedClientException", 403],
    ["ResourceNotFoundException", 404],
    ["ServiceQuotaExceededException", 402],
  ])("is a broken set-up, with its remedy: %s", (name, status) => {
    const error = answered(name, status);
    const expected = "Cannot read the table: no. Check that it exists.";
    expect(failure(error)).toEqual(new BrokenSetupError(expected));
    expect(failure(error)).toMatchObject({ cause: error });
  });

  it.each([
    answered("ValidationException", 400),
    new TypeError("a fault of ours"),
    "a text",
    null,
    undefined,
  ])("is a fault of ours, and stays as it is, otherwise: %s", (error) => {
    expect(failure(error)).toBe(error);
  });
});
