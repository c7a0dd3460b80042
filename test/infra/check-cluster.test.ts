import { createServer } from "node:http";
import { App, Stack } from "aws-cdk-lib";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { refuseUnusableCluster } from "../../infra/check-cluster.ts";
import { type AwsAnswer, fakeAws, json } from "../support/fake-aws.ts";

const account = "123456789012";
const own = `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>${account}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`;
const usable = { status: "ACTIVE", accessConfig: { authenticationMode: "API" } };
const none = { status: 404, headers: { "x-amzn-errortype": "ResourceNotFoundException" }, body: "{}" };
const denied = { status: 403, headers: { "x-amzn-errortype": "AccessDeniedException" }, body: "{}" };
const vpc = { subnetIds: ["subnet-1"], securityGroupIds: ["sg-1"] };

afterEach(() => vi.unstubAllEnvs());

/** The errors that stop a deployment, and what the app prints, where AWS answers so. */
async function check(cluster: AwsAnswer, props: object = {}, identity = own, variables = {}) {
  const aws = await fakeAws(({ path }) => (path === "/" ? { body: identity } : cluster));
  vi.stubEnv("AWS_ENDPOINT_URL", aws.client.endpoint);
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]) vi.stubEnv(name, "fake");
  const printed: string[] = [];
  const print = vi.spyOn(console, "error").mockImplementation((line) => void printed.push(line));
  const stack = new Stack(new App(), "Test");
  try {
    const place = { account, region: "eu-west-1", variables };
    await refuseUnusableCluster(stack, { cluster: "prod", ...props }, place);
  } finally {
    await aws.close();
    print.mockRestore();
  }
  const errors = stack.node.metadata.filter(({ type }) => type === "aws:cdk:error").map(({ data }) => data);
  return { errors, printed, asked: aws.requests.length };
}

const describes = (about: object) => json({ cluster: { ...usable, ...about } });
const closed = describes({ resourcesVpcConfig: { endpointPublicAccess: false } });
const addresses = (...publicAccessCidrs: string[]) =>
  describes({ resourcesVpcConfig: { endpointPublicAccess: true, publicAccessCidrs } });
const publicOnly = {
  resourcesVpcConfig: {
    ...{ endpointPublicAccess: true, endpointPrivateAccess: false },
    publicAccessCidrs: ["203.0.113.0/24"],
  },
};

it.each([
  ["does not exist", none, /^there is no EKS cluster prod .*\nCheck the name/],
  ["is not ready", describes({ status: "CREATING" }), /^prod is CREATING\nWait/],
  ["has no access entries", describes({ accessConfig: {} }), /ConfigMap only\naws eks update-cluster-config/],
  ["is closed to functions outside of a VPC", closed, /private endpoint only.*\n.* setting vpc=/],
  [
    "answers some addresses only",
    addresses("203.0.113.0/24", "::/0"),
    /203.0.113.0\/24, ::\/0 only.*\n.*vpc=.*private endpoint/,
  ],
  [
    "has no private endpoint either",
    describes(publicOnly),
    /0\/24 only.*\n.*vpc=.*NAT gateway has one of these/,
  ],
  ["answers half of all addresses twice", addresses("128.0.0.0/1", "128.0.0.0/2"), /\/2 only/],
  ["answers no addresses between", addresses("0.0.0.0/1", "192.0.0.0/2", "nonsense"), /only/],
])("a deployment for a cluster that %s is refused, with what to do", async (_, answer, why) => {
  expect(await check(answer)).toMatchObject({ errors: [expect.stringMatching(why)], printed: [] });
});

it.each([
  ["the cluster can have a holder", describes({}), {}],
  ["the cluster answers every address", addresses("0.0.0.0/0"), {}],
  ["the cluster answers every address by parts", addresses("128.0.0.0/1", "::/0", "0.0.0.0/1"), {}],
  ["the functions of a private cluster are in its VPC", closed, { vpc }],
])("a deployment is not refused where %s", async (_, answer, props) => {
  expect(await check(answer, props)).toMatchObject({ errors: [], printed: [] });
});

it("AWS is asked through the environment's proxy", async () => {
  const proxied: unknown[] = [];
  const proxy = createServer(({ url }, response) => {
    proxied.push(url);
    response.end(own);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const variables = { HTTP_PROXY: `http://127.0.0.1:${Object(proxy.address()).port}` };
  expect(await check(none, {}, own, variables)).toMatchObject({ asked: 0 });
  expect(proxied).toContainEqual(expect.stringMatching(/^http:.*\/clusters\/prod$/));
});

it("nothing is asked where the rights are given by hand", async () => {
  expect(await check(none, { access: "manual" })).toEqual({ errors: [], printed: [], asked: 0 });
});

it.each([
  ["may not ask", denied, own, {}],
  ["has the credentials of another account", none, own.replace(account, "999999999999"), {}],
  ["has a proxy without an address", none, own, { HTTPS_PROXY: "http://user:s3/cret@proxy.example:3128" }],
])(
  "an app that %s prints one line, and lets the deployment begin",
  async (_, answer, identity, variables) => {
    const { errors, printed } = await check(answer, {}, identity, variables);
    expect(errors).toEqual([]);
    expect(printed).toEqual([
      expect.stringMatching(/^Cluster prod is not checked before the deployment: .+$/),
    ]);
    expect(printed.join("")).not.toContain("cret");
  },
);
