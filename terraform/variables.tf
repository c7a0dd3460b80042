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

variable "command" {
  description = "The command line that writes the template and the functions' code; its version is the holder's"
  type        = list(string)
  default     = ["npx", "--yes", "karpenter-node-holder@0.2.0"]
  nullable    = false
}

variable "tags" {
  description = "Tags of the stack, of its resources and of the bucket"
  type        = map(string)
  default     = {}
  nullable    = false
}
