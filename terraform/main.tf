data "aws_caller_identity" "current" {}

# The region has the same name in every version of the provider here, but not in aws_region.
data "aws_service" "s3" { service_id = "s3" }

locals {
  bucket = var.bucket != null ? var.bucket : join("-", [
    "karpenter-node-holder",
    data.aws_caller_identity.current.account_id,
    data.aws_service.s3.region,
    local.fingerprint,
  ])

  # Templates and code lie beside the module: the archive of a release has them.
  package   = "${path.module}/package"
  functions = ["hold", "release", "sweep", "control"]
  installer = ["cluster-access", "provider"]
  parts     = local.given.access == "manual" ? local.functions : concat(local.functions, local.installer)
  # A name contains the hash of the content, so that Lambda updates its code.
  code = {
    for part in local.parts :
    replace(part, "-", "_") => "${var.prefix}${part}-${substr(filesha256("${local.package}/${part}.zip"), 0, 16)}.zip"
  }

  template = templatefile("${local.package}/${local.given.access == "manual" ? "manual" : "install"}${var.vpc == null ? "" : "-vpc"}.json.tftpl", {
    settings      = local.variables
    environment   = join(",", [for name, value in local.variables : "${jsonencode(name)}:${jsonencode(value)}" if value != ""])
    names         = local.names
    in_ids        = "${replace(var.cluster, "/[^0-9A-Za-z]/", "")}${local.fingerprint}"
    auto          = local.auto
    max_hold      = local.seconds.max_hold
    initial_delay = local.seconds.initial_delay
    events        = local.given.events == "true"
    topic         = local.given.alarm_topic_arn
    monitoring    = local.given.monitoring
    boundary      = local.given.permissions_boundary_arn
    role_path     = local.given.role_path
    key           = local.given.kms_key_arn
    windows       = local.windows
    bucket        = local.bucket
    code          = local.code
    vpc           = var.vpc
  })
}

resource "aws_s3_bucket" "code" {
  count         = var.bucket == null ? 1 : 0
  bucket        = local.bucket
  force_destroy = true
  tags          = var.tags
}

resource "aws_s3_bucket_public_access_block" "code" {
  count                   = length(aws_s3_bucket.code)
  bucket                  = aws_s3_bucket.code[0].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

# What the stack still uses is deleted only after its update.
resource "aws_s3_object" "code" {
  for_each = local.code
  bucket   = local.bucket
  key      = each.value
  source   = "${local.package}/${replace(each.key, "_", "-")}.zip"

  depends_on = [aws_s3_bucket.code]
  lifecycle { create_before_destroy = true }
}

resource "aws_s3_object" "template" {
  bucket  = local.bucket
  key     = "${var.prefix}template-${sha256(local.template)}.json"
  content = local.template

  depends_on = [aws_s3_bucket.code]
  lifecycle { create_before_destroy = true }
}

# The clean-up of a destroy needs it, too, so the stack is deleted first.
resource "aws_vpc_security_group_ingress_rule" "cluster" {
  count                        = var.vpc == null ? 0 : length(var.vpc.cluster_security_group_ids) * length(var.vpc.security_group_ids)
  security_group_id            = var.vpc.cluster_security_group_ids[floor(count.index / length(var.vpc.security_group_ids))]
  referenced_security_group_id = var.vpc.security_group_ids[count.index % length(var.vpc.security_group_ids)]
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
  description                  = "Functions of the node holder"
  tags                         = var.tags
}

resource "aws_cloudformation_stack" "holder" {
  name         = local.stack_name
  template_url = "https://${local.bucket}.${data.aws_service.s3.dns_name}/${aws_s3_object.template.key}"
  capabilities = ["CAPABILITY_IAM"]
  tags         = var.tags
  # After a failed update the state has the new URL; the stack's own parameter shows that the update is still to be done.
  parameters = { Template = sha256(local.template) }

  depends_on = [aws_s3_object.code, aws_vpc_security_group_ingress_rule.cluster]
  lifecycle {
    precondition {
      condition     = length(local.problems) == 0
      error_message = "These settings cannot be used: ${join("; ", local.problems)}."
    }
  }
  timeouts {
    create = "60m"
    update = "60m"
    delete = "60m"
  }
}
