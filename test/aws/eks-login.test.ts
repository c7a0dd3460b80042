import { EKSClient } from "@aws-sdk/client-eks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EksLogin, eksToken, stsHost } from "../../lambda/aws/eks-login.ts";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { type AwsAnswer, type FakeAws, fakeAws, json, jsonError } from "../support/fake-aws.ts";

const credentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "a secret",
  sessionToken: "a session/with+odd=signs",
};
const start = new Date("2026-03-01T12:00:00Z");

const urlOf = (token: string) =>
  new URL(Buffer.from(token.slice("k8s-aws-v1.".length), "base64url").toString());

describe("a login token", () => {
  it("is a signed request to the regional STS that is valid only for this cluster", async () => {
    const token = await eksToken("prod", "eu-west-1", async () => credentials, start);

    const url = urlOf(token);
    expect(url.origin + url.pathname).toBe("https://sts.eu-west-1.amazonaws.com/");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      Action: "GetCallerIdentity",
      Version: "2011-06-15",
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Credential": "AKIDEXAMPLE/20260301/eu-west-1/sts/aws4_request",
      "X-Amz-Date": "20260301T120000Z",
      "X-Amz-Expires": "60",
      "X-Amz-Security-Token": credentials.sessionToken,
      "X-Amz-SignedHeaders": "host;x-k8s-aws-id",
      // Computed once more from the specification of Signature Version 4.
      "X-Amz-Signature": "3858a05fcdb639231e11c034c8e7b00e0101f9d1587145142ffec634af01dff5",
    });
    const another = await eksToken("another", "eu-west-1", async () => credentials, start);
    expect(urlOf(another).searchParams.get("X-Amz-Signature")).not.toBe(
      url.searchParams.get("X-Amz-Signature"),
    );
    expect(token).not.toMatch(/=|\+|\//);
  });

  it.each([
    ["eu-west-1", "sts.eu-west-1.amazonaws.com"],
    ["us-gov-west-1", "sts.us-gov-west-1.amazonaws.com"],
    ["cn-north-1", "sts.cn-north-1.amazonaws.com.cn"],
    ["eusc-de-east-1", "sts.eusc-de-east-1.amazonaws.eu"],
  ])("asks the STS of its partition in %s", (region, host) => {
    expect(stsHost(region)).toBe(host);
  });
});

describe("logging in to an EKS cluster", () => {
  let aws: FakeAws;
  let answer: AwsAnswer;
  let now: Date;
  let login: EksLogin;
  const prod = {
    cluster: {
      endpoint: "https://prod.example.com",
      certificateAuthority: { data: Buffer.from("a certificate").toString("base64") },
    },
  };

  beforeEach(async () => {
    now = start;
    answer = json(prod);
    aws = await fakeAws(() => answer);
    const eks = new EKSClient({ ...aws.client, credentials, maxAttempts: 1 });
    login = new EksLogin({ cluster: "prod", eks, clock: { now: () => now } });
  });
  afterEach(() => aws.close());
  const tokenOf = async () => (await login.access()).headers.authorization ?? "";

  it("knows the cluster's endpoint and certificate", async () => {
    const { server: where, tls, headers } = await login.access();
    expect(where).toBe("https://prod.example.com");
    expect(tls).toEqual({ ca: "a certificate" });
    expect(headers.authorization).toMatch(/^Bearer k8s-aws-v1\./);
    expect(aws.requests.map(({ path }) => path)).toEqual(["/clusters/prod"]);
  });

  it("logs in once for many calls at the same time", async () => {
    const all = await Promise.all(Array.from({ length: 16 }, () => login.access()));
    expect(new Set(all).size).toBe(1);
    expect(aws.requests).toHaveLength(1);
  });

  it("uses a token until shortly before 14 minutes, and the connection longer", async () => {
    const [first, { tls }] = [await tokenOf(), await login.access()];
    now = new Date(start.getTime() + minutes(14) - seconds(1));
    expect(await tokenOf()).toBe(first);
    now = new Date(start.getTime() + minutes(14));
    expect(await tokenOf()).not.toBe(first);
    expect((await login.access()).tls).toBe(tls);
    expect(aws.requests).toHaveLength(1);
  });

  it("drops token and endpoint when it must refresh", async () => {
    await tokenOf();
    now = new Date(start.getTime() + 1_000);
    login.refresh();
    await tokenOf();
    expect(aws.requests).toHaveLength(2);
  });

  const unknown = /no EKS cluster named prod in eu-west-1: check the setting cluster/;
  it.each([
    ["ResourceNotFoundException", 404, BrokenSetupError, unknown],
    ["AccessDeniedException", 403, BrokenSetupError, /allow this role eks:DescribeCluster/],
    ["UnrecognizedClientException", 403, BrokenSetupError, /allow this role eks:DescribeCluster/],
    ["ServerException", 500, TryAgainError, /could not be described/],
  ])("reports %s with a remedy, and tries again the next time", async (type, status, kind, message) => {
    answer = jsonError(type, "no", status);
    const failure = login.access();
    await expect(failure).rejects.toBeInstanceOf(kind);
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.toMatchObject({ cause: { name: type } });

    answer = json(prod);
    expect((await login.access()).server).toBe("https://prod.example.com");
  });

  it.each([
    [{ status: "CREATING" }, "CREATING"],
    [{ endpoint: prod.cluster.endpoint }, "in no known state"],
    [{ certificateAuthority: prod.cluster.certificateAuthority }, "in no known state"],
    [undefined, "in no known state"],
  ])("waits for a cluster that is not complete yet: %o", async (cluster, state) => {
    answer = json({ cluster });
    await expect(login.access()).rejects.toThrow(
      new TryAgainError(`EKS cluster prod has no endpoint yet: it is ${state}`),
    );
  });

  it.each(["http://prod.example.com", "prod.example.com"])("sends no login to %s", async (endpoint) => {
    answer = json({ cluster: { ...prod.cluster, endpoint } });
    await expect(login.access()).rejects.toThrow(
      new TryAgainError("EKS cluster prod has an endpoint that is not an https address"),
    );
  });

  /** A login whose calls of EKS have these answers in turn. */
  function loginWith(answers: readonly Promise<object>[], signs: () => Promise<object>): EksLogin {
    const left = [...answers];
    const config = { region: async () => "eu-west-1", credentials: signs };
    const eks = { send: () => left.shift(), config } as unknown as EKSClient;
    return new EksLogin({ cluster: "prod", eks, clock: { now: () => now } });
  }

  it("keeps its newer token and endpoint when an older login fails late", async () => {
    const late = Promise.withResolvers<object>();
    const renewed = loginWith([late.promise, Promise.resolve(prod)], async () => credentials);
    const older = renewed.access();
    renewed.refresh();
    const newer = await renewed.access();

    late.reject(new Error("no answer"));
    await expect(older).rejects.toThrow(TryAgainError);

    expect(await renewed.access()).toBe(newer);
    now = new Date(start.getTime() + minutes(14));
    expect((await renewed.access()).tls).toBe(newer.tls);
  });

  it("reports that there are no credentials to sign a login with", async () => {
    const failure = loginWith([Promise.resolve(prod)], () => Promise.reject(new Error("none"))).access();

    await expect(failure).rejects.toThrow(
      new TryAgainError("The login could not be signed: check the AWS credentials"),
    );
    await expect(failure).rejects.toMatchObject({ cause: { message: "none" } });
  });
});
