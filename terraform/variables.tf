# The settings are in settings.tf.

variable "bucket" {
  description = "An S3 bucket of the cluster's region for the functions' code, by a name that is known at plan; without it the module creates one"
  type        = string
  default     = null
}

variable "prefix" {
  description = "Where in the bucket: empty, or ending in a slash"
  type        = string
  default     = "karpenter-node-holder/"
  nullable    = false
}

variable "vpc" {
  description = "For a cluster with a private endpoint: where the functions run, and the cluster's security groups, which then let them in on port 443"
  type = object({
    subnet_ids                 = list(string)
    security_group_ids         = list(string)
    cluster_security_group_ids = optional(list(string), [])
  })
  default = null
}

variable "tags" {
  description = "Tags of the stack, of its resources and of the bucket"
  type        = map(string)
  default     = {}
  nullable    = false
}
