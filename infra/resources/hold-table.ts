import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, BillingMode, Table } from "aws-cdk-lib/aws-dynamodb";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { HoldTable as Keys } from "../../lambda/record/item-table.ts";

/** Remembers which scope is held until when, and what was held before. */
export class HoldTable extends Construct {
  private readonly table: Table;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.table = new Table(this, "Table", {
      partitionKey: { name: Keys.partitionKey, type: AttributeType.STRING },
      sortKey: { name: Keys.sortKey, type: AttributeType.STRING },
      timeToLiveAttribute: Keys.forgetAt,
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // The record is useless without the marks, and a destroy removes those.
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  get name(): string {
    return this.table.tableName;
  }

  /** Lets a function read and write items and query one kind; no scan, no delete. */
  openTo(user: IGrantable): void {
    this.table.grant(user, "dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem");
  }
}
