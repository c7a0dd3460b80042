data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  # Known at plan, because the template names it.
  bucket = var.bucket != null ? var.bucket : join("-", [
    "karpenter-node-holder",
    data.aws_caller_identity.current.account_id,
    data.aws_region.current.id,
    local.fingerprint,
  ])
  fingerprint = substr(sha256(var.cluster), 0, 8)

  # The name that the CDK app and the command template give to the stack.
  plain_name = "karpenter-node-holder-${replace(var.cluster, "_", "-")}"
  stack_name = strcontains(var.cluster, "_") ? "${substr(local.plain_name, 0, 119)}-${local.fingerprint}" : local.plain_name

  folder   = "${path.root}/.terraform/karpenter-node-holder/${var.cluster}"
  template = "${data.external.template.result.folder}/template.json"
  archives = [
    for resource in jsondecode(file(local.template)).Resources :
    resource.Properties.Code.S3Key if resource.Type == "AWS::Lambda::Function"
  ]

  functions = ["hold", "release", "sweep", "control"]
  installer = ["cluster-access", "provider"]
  parts     = var.access == "manual" ? local.functions : concat(local.functions, local.installer)
  # The keys of this map are known at plan, also where a setting is not.
  code = { for part in local.parts : part => one([for key in local.archives : key if startswith(basename(key), "${part}-")]) }
}

# Writes the template and the functions' code, with the settings filled in.
data "external" "template" {
  program = concat(
    ["sh", "-c", "\"$@\" >&2 && printf '{\"folder\":\"%s\"}' \"$0\"", local.folder],
    var.command,
    ["template", "--bucket", local.bucket, "--prefix", var.prefix, "--out", local.folder],
    flatten([for flag, value in local.settings : [flag, value] if value != null]),
  )
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

# A name contains the hash of the content. What the stack still uses is deleted only after its update.
resource "aws_s3_object" "code" {
  for_each = local.code
  bucket   = local.bucket
  key      = each.value
  source   = "${dirname(local.template)}/${basename(each.value)}"

  depends_on = [aws_s3_bucket.code]
  lifecycle { create_before_destroy = true }
}

resource "aws_s3_object" "template" {
  bucket = local.bucket
  key    = "${var.prefix}template-${filesha256(local.template)}.json"
  source = local.template

  depends_on = [aws_s3_bucket.code]
  lifecycle { create_before_destroy = true }
}

resource "aws_cloudformation_stack" "holder" {
  name         = local.stack_name
  template_url = "https://${local.bucket}.s3.${data.aws_region.current.id}.${data.aws_partition.current.dns_suffix}/${aws_s3_object.template.key}"
  capabilities = ["CAPABILITY_IAM"]
  tags         = var.tags

  depends_on = [aws_s3_object.code]
  timeouts {
    create = "60m"
    update = "60m"
    delete = "60m"
  }
}
