import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../engines/processes.ts";
import { type Emulator, region } from "./emulator.ts";

/** Does what `aws s3 cp` and `aws cloudformation deploy` do, which not every machine has. */
export class PlainDeployment {
  readonly #emulator: Emulator;

  constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  /** Puts every file of the folder into a new bucket. */
  async upload(folder: string, bucket: string, prefix: string): Promise<void> {
    await this.#s3("PUT", bucket);
    for (const name of readdirSync(folder))
      await this.#s3("PUT", `${bucket}/${prefix}${name}`, readFileSync(join(folder, name)));
  }

  /** Creates a stack from a template in a bucket, and waits for it. */
  async create(stack: string, bucket: string, template: string): Promise<void> {
    await this.#cloudFormation({
      Action: "CreateStack",
      StackName: stack,
      TemplateURL: `https://${bucket}.s3.${region}.amazonaws.com/${template}`,
      "Capabilities.member.1": "CAPABILITY_IAM",
    });
    await this.#statusOf(stack, /^CREATE_COMPLETE$/);
  }

  async delete(stack: string): Promise<void> {
    await this.#cloudFormation({ Action: "DeleteStack", StackName: stack });
    await this.#statusOf(stack, /^(DELETE_COMPLETE|gone)$/);
  }

  /** Ends a rollback that failed; what is skipped counts as rolled back. */
  async continueRollback(stack: string, skip: readonly string[]): Promise<void> {
    const skipped = skip.map((id, i) => [`ResourcesToSkip.member.${i + 1}`, id] as const);
    const parameters = Object.fromEntries(skipped);
    await this.#cloudFormation({ Action: "ContinueUpdateRollback", StackName: stack, ...parameters });
    const ended = async () => (await this.status(stack)) !== "UPDATE_ROLLBACK_IN_PROGRESS";
    await until(`the rollback of ${stack} to end`, ended);
  }

  /** The logical ids of all resources of a type. */
  async resources(stack: string, type: string): Promise<readonly string[]> {
    const answer = await this.#cloudFormation({ Action: "DescribeStackResources", StackName: stack });
    const found = answer.split("<member>").filter((one) => one.includes(`<ResourceType>${type}<`));
    return found.map((one) => /<LogicalResourceId>(\w+)</.exec(one)?.[1] ?? "");
  }

  async status(stack: string): Promise<string> {
    const answer = await this.#cloudFormation({ Action: "DescribeStacks", StackName: stack });
    return /<StackStatus>(\w+)</.exec(answer)?.[1] ?? "gone";
  }

  /** Why resources could not be deleted, by the stack's events. */
  async deleteFailures(stack: string): Promise<readonly string[]> {
    const reasons: string[] = [];
    let next: string | undefined;
    do {
      const page = await this.#cloudFormation({
        Action: "DescribeStackEvents",
        StackName: stack,
        ...(next && { NextToken: next }),
      });
      for (const event of page.split("<member>"))
        if (event.includes("<ResourceStatus>DELETE_FAILED<"))
          reasons.push(/<ResourceStatusReason>(.*)<\/ResourceStatusReason>/s.exec(event)?.[1] ?? "");
      next = /<NextToken>(.+)<\/NextToken>/.exec(page)?.[1];
    } while (next);
    return reasons;
  }

  async #statusOf(stack: string, wanted: RegExp): Promise<void> {
    await until(`the stack to be ${wanted}`, async () => {
      const status = await this.status(stack);
      if (/FAILED|ROLLBACK/.test(status)) throw new Error(`${stack} is ${status}`);
      return wanted.test(status);
    });
  }

  #s3(method: string, path: string, body?: Buffer<ArrayBuffer>): Promise<string> {
    return this.#call(`/${path}`, { method, headers: signedFor("s3"), ...(body && { body }) });
  }

  #cloudFormation(parameters: Readonly<Record<string, string>>): Promise<string> {
    const body = new URLSearchParams({ ...parameters, Version: "2010-05-15" });
    return this.#call("/", { method: "POST", headers: signedFor("cloudformation"), body });
  }

  async #call(path: string, request: RequestInit): Promise<string> {
    const answer = await fetch(`${this.#emulator.endpoint}${path}`, request);
    const text = await answer.text();
    if (!answer.ok && !text.includes("does not exist")) throw new Error(`${path}: ${answer.status} ${text}`);
    return text;
  }
}

/** The emulator finds the service in it, and checks no signature. */
const signedFor = (service: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=0`,
});
