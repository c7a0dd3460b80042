import { describe, expect, it } from "vitest";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import {
  explained,
  isRefusedByAdmission,
  isStatus,
  isUnknownKind,
  KubernetesError,
  meaningOf,
  statusIn,
} from "../../lambda/kubernetes/error.ts";

const anError = (status: number, details = { name: "a", causes: [] as unknown[] }) =>
  new KubernetesError("GET /x", status, { message: "no", details });

describe("an answer of the API server", () => {
  it.each([
    [429, "GET", "throttled"],
    [401, "GET", "login"],
    [403, "GET", "caller"],
    [500, "GET", "retry"],
    [503, "PATCH", "retry"],
    [409, "PATCH", "retry"],
    [409, "POST", "caller"],
    [404, "PATCH", "caller"],
    [422, "PATCH", "caller"],
    [499, "GET", "caller"],
  ])("%i to a %s means: %s", (status, method, meaning) => {
    expect(meaningOf(status, method)).toBe(meaning);
  });

  it("is an error with its call, its status and its message, of which it keeps the beginning", () => {
    expect(anError(404)).toMatchObject({
      name: "KubernetesError",
      message: "GET /x was answered with 404: no",
    });
    const { message } = new KubernetesError("GET /x", 404, { message: "y".repeat(1_001) });
    expect(message).toBe(`GET /x was answered with 404: ${"y".repeat(1_000)}…`);
    expect(new KubernetesError("GET /x", 404, {})).toMatchObject({
      message: "GET /x was answered with 404: ",
      details: { name: "", causes: [] },
    });
  });

  it.each([
    [401, /^The cluster refused the login .*access entry.* \(GET \/x was answered with 401: no\)$/],
    [403, /^The cluster does not allow this .*check ClusterRole.*`manifest` prints \(GET \/x/],
  ])("%i is a broken set-up, with its remedy and its cause", (status, message) => {
    const cause = anError(status);
    const error = explained(cause);
    expect(error).toBeInstanceOf(BrokenSetupError);
    expect(error.message).toMatch(message);
    expect(error.cause).toBe(cause);
  });

  it("is recognised by its status, also inside of the error that names the remedy", () => {
    for (const known of [anError(404), explained(anError(404)), explained(anError(403))])
      expect(isStatus(known, 403, 404)).toBe(true);
    for (const other of [anError(500), new BrokenSetupError("x"), { status: 404 }, undefined])
      expect(isStatus(other, 403, 404)).toBe(false);
  });

  it.each([
    [anError(400), true],
    [anError(403), true],
    [explained(anError(403)), true],
    [anError(422, { name: "a", causes: [{}] }), true],
    [anError(422), false],
    [anError(409, { name: "a", causes: [{}] }), false],
    [undefined, false],
  ])("is a refusal by a policy or webhook: %s, %s", (error, expected) => {
    expect(isRefusedByAdmission(error)).toBe(expected);
  });

  it.each([
    [anError(404, { name: "", causes: [] }), true],
    [anError(404), false],
    [anError(403, { name: "", causes: [] }), false],
  ])("names no object where the cluster does not know its kind: %s, %s", (error, expected) => {
    expect(isUnknownKind(error)).toBe(expected);
  });
});

describe("the body of an answer", () => {
  const access = { server: "", tls: {}, headers: {} };
  const none = { name: "", causes: [] };

  it.each<[string, object]>([
    [
      '{"message":"no","reason":"Invalid","details":{"name":"a","causes":[1]}}',
      { message: "no", reason: "Invalid", details: { name: "a", causes: [1] } },
    ],
    [
      '{"message":"no","reason":7,"details":{"name":7,"causes":7}}',
      { message: "no", reason: "", details: none },
    ],
    ['{"message":7}', { message: '{"message":7}', reason: "", details: none }],
    ["x".repeat(300), { message: "x".repeat(300), reason: "", details: none }],
    ["x".repeat(301), { message: `${"x".repeat(300)}…`, reason: "", details: none }],
  ])("%s is a Status, or a proxy's text", (body, expected) => {
    expect(statusIn(body, access)).toEqual(expected);
  });

  it.each([
    ["Bearer secret", "(our login) (our login)"],
    ["Bearer", "secret secret"],
    [undefined, "secret secret"],
  ])("is read without our login: %s", (authorization, message) => {
    const headers = authorization === undefined ? {} : { authorization };
    expect(statusIn("secret secret", { ...access, headers }).message).toBe(message);
  });
});
