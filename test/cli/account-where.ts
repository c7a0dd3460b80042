import { afterEach } from "vitest";
import { awsAccount } from "../../cli/doctor/aws/aws-account.ts";
import { type AwsAnswer, type AwsRequest, type FakeAws, fakeAws } from "../support/fake-aws.ts";

let aws: FakeAws | undefined;
afterEach(() => aws?.close());

/** AWS as the test sees it, where it answers this. */
export async function awsWhere(
  answer: (request: AwsRequest) => AwsAnswer | Promise<AwsAnswer>,
): Promise<FakeAws> {
  await aws?.close();
  aws = await fakeAws(answer);
  return aws;
}

/** The account of cluster prod where AWS answers this. */
export const accountWhere = async (answer: (request: AwsRequest) => AwsAnswer) =>
  awsAccount((await awsWhere(answer)).client, "prod");

/** What it was asked. */
export const requests = (): readonly AwsRequest[] => aws?.requests ?? [];
export const bodies = () => requests().map(({ body }) => (body ? JSON.parse(body) : {}));
