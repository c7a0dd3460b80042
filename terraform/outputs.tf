output "outputs" {
  description = "The stack's outputs by name: functions, queues, table, dashboard, ForceRelease, and RolesToAdmit with access = \"manual\""
  value       = aws_cloudformation_stack.holder.outputs
}

output "stack_id" {
  description = "The ARN of the CloudFormation stack"
  value       = aws_cloudformation_stack.holder.id
}

output "bucket" {
  description = "The bucket of the functions' code"
  value       = local.bucket
}
