import { type Duration, RemovalPolicy } from "aws-cdk-lib";
import {
  Effect,
  type IGrantable,
  type IPrincipal,
  PolicyStatement,
  type PolicyStatementProps,
  Role,
  ServicePrincipal,
} from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  CfnFunction,
  Code,
  type EventInvokeConfigOptions,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  RuntimeFamily,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { acknowledgeWildcard } from "../acknowledge.ts";
import { functionName, type Part } from "../names.ts";
import type { HolderVpcIds } from "../network.ts";
import { recursiveLoopAllowed } from "../partition.ts";
import { bundleOf } from "./bundles.ts";
import { functionArn } from "./function-arn.ts";

export type HolderFunctionProps = Readonly<{
  name: string;
  part: Part;
  description: string;
  timeout: Duration;
  environment: Readonly<Record<string, string>>;
  logRetention: RetentionDays;
  vpc: HolderVpcIds | undefined;
  /** Settings of asynchronous invocations. */
  whenAsync?: EventInvokeConfigOptions;
  reservedConcurrency?: number;
  /** Whether it sends messages to the queue that invokes it. */
  invokesItself?: boolean;
}>;

// By name: a CDK of 2025 has no constant for it yet.
export const runtime = new Runtime("nodejs24.x", RuntimeFamily.NODEJS);

/** One function of the holder: its bundle, its own role, its own log group. */
export class HolderFunction extends Construct implements IGrantable {
  readonly fn: LambdaFunction;
  readonly role: Role;
  /** The function's own resource, without those that the CDK adds to it. */
  readonly resource: CfnFunction;
  /** By name, so that the function's own role may name it. */
  readonly arn: string;

  constructor(scope: Construct, id: string, props: HolderFunctionProps) {
    super(scope, id);
    this.arn = functionArn(this, props.name, props.part);
    const logGroup = new LogGroup(this, "Logs", {
      logGroupName: `/aws/lambda/${functionName(props.name, props.part)}`,
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(this.role);
    this.fn = new LambdaFunction(this, "Function", {
      functionName: functionName(props.name, props.part),
      description: props.description,
      code: Code.fromAsset(bundleOf(props.part)),
      handler: "index.handler",
      runtime,
      architecture: Architecture.ARM_64,
      // The share of a processor grows with memory, and TLS and JSON need it; half of the memory would do.
      memorySize: 512,
      timeout: props.timeout,
      environment: { ...props.environment, NODE_OPTIONS: "--enable-source-maps" },
      role: this.role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      ...props.whenAsync,
      ...(props.reservedConcurrency && { reservedConcurrentExecutions: props.reservedConcurrency }),
    });
    const resource = this.fn.node.defaultChild;
    if (!(resource instanceof CfnFunction))
      throw new Error("this version of the CDK creates no CfnFunction here");
    this.resource = resource;
    const recursiveLoop = props.invokesItself && recursiveLoopAllowed(this);
    if (recursiveLoop) resource.recursiveLoop = recursiveLoop;
    if (props.vpc) this.enter(props.vpc);
  }

  get grantPrincipal(): IPrincipal {
    return this.role;
  }

  /** Adds a permission to this function alone. */
  may(statement: PolicyStatementProps): void {
    this.role.addToPolicy(new PolicyStatement(statement));
  }

  // By ids: no look-up and no VPC object is needed.
  private enter(vpc: HolderVpcIds): void {
    this.resource.vpcConfig = { subnetIds: [...vpc.subnetIds], securityGroupIds: [...vpc.securityGroupIds] };
    // AWS's managed policy would let a late log line re-create the log group after a destroy.
    this.may({ actions: networkInterfaceActions, resources: ["*"] });
    acknowledgeWildcard(this.role, "*", "network interfaces have no narrower resource before they exist");
    // Lambda itself manages the interfaces; the function's code has no need to.
    this.may({
      effect: Effect.DENY,
      actions: networkInterfaceActions,
      resources: ["*"],
      conditions: { ArnEquals: { "lambda:SourceFunctionArn": this.arn } },
    });
  }
}

const networkInterfaceActions = [
  "ec2:CreateNetworkInterface",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:DeleteNetworkInterface",
  "ec2:AssignPrivateIpAddresses",
  "ec2:UnassignPrivateIpAddresses",
];
