import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pass } from "node:timers/promises";
import { untilStopped } from "../../../cli/terminal/terminal.ts";
import { DeployedCluster } from "../deployed/cluster.ts";
import { program } from "../engines/build.ts";
import { freshRunFolder } from "../runner/run-folder.ts";
import { Emulator } from "./emulator.ts";

const help = `Starts an AWS emulator with an EKS cluster on this machine, to try things by hand until Ctrl-C.

usage: npm run emulator

It prints what to type in another terminal. Enter launches an instance, whose node joins ten seconds later.
Needs Go and Python; what it builds is kept for the next time, and shared with npm run test:real.
`;

const name = "prod";
const joinsAfter = 10_000;
const print = (line: string) => process.stdout.write(`${line}\n`);

if (process.argv.includes("--help") || process.argv.includes("-h")) process.stdout.write(help);
else await tryByHand();

async function tryByHand(): Promise<void> {
  const stopped = untilStopped();
  freshRunFolder();
  print("Starting the AWS emulator, etcd and an API server …");
  const emulator = await Emulator.start();
  try {
    const cluster = new DeployedCluster(emulator, name, await emulator.createCluster(name));
    for (const instance of await cluster.launchMany(3)) await cluster.join(instance);
    introduce(environmentOf(emulator, cluster));
    const lines = createInterface({ input: process.stdin }).on("line", () => void launch(cluster));
    await stopped;
    lines.close();
  } finally {
    await emulator.stop();
  }
  print("Stopped: the cluster and everything deployed are gone.");
  process.exit();
}

async function launch(cluster: DeployedCluster): Promise<void> {
  try {
    const instance = await cluster.launch();
    print(`${instance} is launched`);
    await pass(joinsAfter);
    print(`${await cluster.join(instance)} of ${instance} has joined`);
  } catch (error) {
    print(`Failed: ${error}`);
  }
}

/** A file that a shell reads. Without a profile, which would win over the credentials and lead to a real account. */
function environmentOf(emulator: Emulator, { plane }: DeployedCluster): string {
  const variables = {
    ...emulator.env,
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    KUBECONFIG: plane.kubeconfig(),
  };
  const file = join(emulator.folder, "env.sh");
  writeFileSync(
    file,
    [
      "unset AWS_PROFILE AWS_DEFAULT_PROFILE AWS_SESSION_TOKEN",
      ...Object.entries(variables).map(([key, value]) => `export ${key}='${value}'`),
      `export PATH='${dirname(process.execPath)}:${dirname(program("kubectl"))}':"$PATH"`,
      "",
    ].join("\n"),
  );
  return file;
}

function introduce(environment: string): void {
  print(`AWS is at work, with the EKS cluster "${name}" and three of its nodes. In another terminal:

  . ${environment}
  npx cdk bootstrap -c cluster=${name}
  npx cdk deploy -c cluster=${name} -c alarms=none --require-approval never
  npx karpenter-node-holder doctor --cluster ${name}
  kubectl get nodes -L karpenter-node-holder/hold --watch

Here, Enter launches an instance, and Ctrl-C ends all.`);
}
