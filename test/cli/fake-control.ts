import { onTestFinished, vi } from "vitest";
import { functionName } from "../../infra/names.ts";
import { type AwsAnswer, type FakeAws, fakeAws, json, jsonError } from "../support/fake-aws.ts";
import { typed } from "../support/typed.ts";

export type Asked = Readonly<Record<string, unknown>>;

/** What the function answers, or how AWS answers in its place. */
export type Control = (request: Asked, functionName: string) => unknown;

/** An error that the function itself threw, stack trace and all, as Lambda reports it. */
export const failed = (errorType: string, errorMessage: string): AwsAnswer => ({
  headers: { "x-amz-function-error": "Unhandled" },
  body: JSON.stringify({ errorType, errorMessage, trace: ["Error: at somewhere.ts:1"] }),
});

/** Lambda on loopback with one control function, and our command line pointed at it. */
export class FakeControl {
  readonly asked: Asked[] = [];
  readonly functionNames: string[] = [];
  /** What the operator's shell has set. */
  env: Readonly<Record<string, string>> = { KARPENTER_NODE_HOLDER_CLUSTER: "prod" };
  readonly #aws: FakeAws;

  private constructor(aws: FakeAws) {
    this.#aws = aws;
  }

  static async start(
    control: Control,
    /** Each by its name, and by its cluster where that has another: "blue for generated-1a2b3c". */
    holders: readonly string[] | "denied" = ["prod"],
  ): Promise<FakeControl> {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "fake");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "fake");
    vi.stubEnv("AWS_MAX_ATTEMPTS", "1");
    const it: { fake?: FakeControl } = {};
    const aws = await fakeAws(async (request) => {
      const name = /functions\/([^/]+)\/invocations/.exec(request.path)?.[1];
      if (name === undefined) return listed(holders);
      const asked: Asked = JSON.parse(request.body);
      it.fake?.asked.push(asked);
      it.fake?.functionNames.push(name);
      const answer = await control(asked, name);
      return isAnswer(answer) ? answer : json(answer);
    });
    it.fake = new FakeControl(aws);
    return it.fake;
  }

  /** Types a command as an operator would. */
  run(...words: readonly string[]) {
    const { endpoint, region } = this.#aws.client;
    return typed([...words, "--endpoint-url", endpoint, "--region", region], this.env);
  }

  async stop(): Promise<void> {
    vi.unstubAllEnvs();
    await this.#aws.close();
  }
}

/** The same until a test ends; the operator's shell names cluster prod. */
export async function holder(...about: Parameters<typeof FakeControl.start>): Promise<FakeControl> {
  const fake = await FakeControl.start(...about);
  onTestFinished(() => fake.stop());
  return fake;
}

/** The service's own refusal, as AWS reports it. */
export const refused = jsonError;

function listed(holders: readonly string[] | "denied"): AwsAnswer {
  if (holders === "denied") return jsonError("AccessDeniedException", "not allowed to list", 403);
  const functions = holders.flatMap((holder) => {
    const [name = "", cluster = name] = holder.split(" for ");
    return (["control", "hold"] as const).map((part) => ({
      FunctionName: functionName(name, part),
      Environment: { Variables: { CLUSTER: cluster } },
    }));
  });
  return json({ Functions: [{ FunctionName: "other" }, ...functions] });
}

const isAnswer = (answer: unknown): answer is AwsAnswer =>
  typeof answer === "object" && answer !== null && "headers" in answer && "body" in answer;
