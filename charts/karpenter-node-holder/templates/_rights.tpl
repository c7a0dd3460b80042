{{- /* Written by npm run build:chart: the objects that `manifest --holder run` prints. */}}
{{- define "karpenter-node-holder.rights" }}
{{- $set := .root.Values.settings }}
{{- $mode := .mode | default ($set.mode | default "hold") }}
{{- $known := dict "v1" "karpenter.sh/do-not-disrupt" "v0.31" "karpenter.sh/do-not-consolidate" }}
{{- $annotation := $set.holdAnnotation | default (get $known ($set.karpenter | default "v1")) }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .account }}
  labels:
    {{- include "karpenter-node-holder.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
rules:
  - apiGroups:
      - ''
    resources:
      - nodes
    verbs:
      - get
      - list
{{- if ne $mode "observe" }}
      - patch
{{- end }}
      - watch
  - apiGroups:
      - karpenter.sh
    resources:
      - nodeclaims
    verbs:
      - list
{{- if and (not .mode) (eq ($set.hold | default "auto") "auto") (eq ($set.karpenter | default "v1") "v1") }}
  - apiGroups:
      - ''
    resources:
      - pods
    verbs:
      - list
  - apiGroups:
      - policy
    resources:
      - poddisruptionbudgets
    verbs:
      - list
{{- end }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ .account }}
  labels:
    {{- include "karpenter-node-holder.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  failurePolicy: Fail
  matchConstraints:
    matchPolicy: Equivalent
    namespaceSelector: {}
    objectSelector: {}
    resourceRules:
      - apiGroups:
          - ''
        apiVersions:
          - '*'
        operations:
          - UPDATE
        resources:
          - nodes
        scope: '*'
  matchConditions:
    - name: ours
      expression: request.userInfo.username == 'system:serviceaccount:{{ .root.Release.Namespace }}:{{ .account }}'
  variables:
    - name: annotation
      expression: '''{{ $annotation }}'''
    - name: label
      expression: '''karpenter-node-holder/hold'''
    - name: oldAnnotations
      expression: oldObject.metadata.?annotations.orValue({})
    - name: newAnnotations
      expression: object.metadata.?annotations.orValue({})
    - name: oldLabels
      expression: oldObject.metadata.?labels.orValue({})
    - name: newLabels
      expression: object.metadata.?labels.orValue({})
    - name: wasHeld
      expression: variables.oldLabels[?variables.label].orValue('').matches('^[0-9]{8}t[0-9]{6}-[a-z0-9]{6}$')
    - name: isHeld
      expression: variables.newLabels[?variables.label].orValue('').matches('^[0-9]{8}t[0-9]{6}-[a-z0-9]{6}$')
    - name: hadAnnotation
      expression: variables.annotation in variables.oldAnnotations
    - name: hasAnnotation
      expression: variables.annotation in variables.newAnnotations
    - name: sameAnnotation
      expression: variables.newAnnotations[?variables.annotation] == variables.oldAnnotations[?variables.annotation]
    - name: sameLabel
      expression: variables.newLabels[?variables.label] == variables.oldLabels[?variables.label]
    - name: changesMark
      expression: '!variables.sameLabel || !variables.sameAnnotation'
    - name: oldOwners
      expression: dyn(oldObject).metadata.?managedFields.orValue([])
    - name: newOwners
      expression: dyn(object).metadata.?managedFields.orValue([])
    - name: isOwnedByOthers
      expression: variables.oldOwners.exists(a, !(a.?manager.orValue('') in ['karpenter-node-holder', 'ancient-changes', 'before-first-apply']) && a.?fieldsV1[?'f:metadata'][?'f:annotations'][?('f:' + variables.annotation)].hasValue())
    - name: changedFields
      expression: '{''f:labels'': (variables.sameLabel ? [] : [''f:karpenter-node-holder/hold'']) + ((size(variables.oldLabels) == 0) != (size(variables.newLabels) == 0) ? [''.''] : []), ''f:annotations'': (variables.hadAnnotation == variables.hasAnnotation ? [] : [''f:'' + variables.annotation]) + ((size(variables.oldAnnotations) == 0) != (size(variables.newAnnotations) == 0) ? [''.''] : [])}'
    - name: oldUpdates
      expression: variables.oldOwners.filter(a, a.?operation.orValue('') == 'Update')
    - name: folds
      expression: variables.isHeld && variables.changesMark && size(variables.oldUpdates) >= 10 && !variables.oldUpdates.exists(a, (a.?manager.orValue('') == 'karpenter-node-holder' && a.?apiVersion.orValue('') == 'v1' && a.?subresource.orValue('') == '')) && variables.newOwners.exists(a, (a.?operation.orValue('') == 'Update' && (a.?manager.orValue('') == 'ancient-changes' && a.?apiVersion.orValue('') == 'v1' && a.?subresource.orValue('') == ''))) && size(variables.oldUpdates.filter(a, !variables.newOwners.exists(b, a.?manager == b.?manager && a.?operation == b.?operation && a.?apiVersion == b.?apiVersion && a.?subresource == b.?subresource))) <= 2
  validations:
    - expression: object.spec == oldObject.spec && object.metadata.?finalizers.orValue([]) == oldObject.metadata.?finalizers.orValue([]) && object.metadata.?ownerReferences.orValue([]) == oldObject.metadata.?ownerReferences.orValue([]) && object.metadata.?generateName.orValue('') == oldObject.metadata.?generateName.orValue('')
      message: the node holder may change nothing but its mark
    - expression: variables.newAnnotations.all(k, k == variables.annotation || (k in variables.oldAnnotations && variables.oldAnnotations[k] == variables.newAnnotations[k])) && variables.oldAnnotations.all(k, k == variables.annotation || k in variables.newAnnotations)
      message: the node holder may change only its hold annotation
    - expression: variables.newLabels.all(k, k == variables.label || (k in variables.oldLabels && variables.oldLabels[k] == variables.newLabels[k])) && variables.oldLabels.all(k, k == variables.label || k in variables.newLabels)
      message: the node holder may change only its hold label
    - expression: variables.wasHeld || !(variables.label in variables.oldLabels) || (variables.sameLabel && variables.sameAnnotation)
      message: 'this node is excluded: its label karpenter-node-holder/hold is its user''s'
    - expression: variables.isHeld || !(variables.label in variables.newLabels) || variables.sameLabel
      message: the node holder may set its label karpenter-node-holder/hold to the id of a hold only
    - expression: '!variables.hadAnnotation || variables.sameAnnotation || (!variables.hasAnnotation && variables.wasHeld && variables.oldAnnotations[?variables.annotation].orValue('''') == ''true'' && !variables.isOwnedByOthers)'
      message: the annotation on this node is its user's
    - expression: '!variables.hasAnnotation || variables.hadAnnotation || (variables.isHeld && variables.newAnnotations[?variables.annotation].orValue('''') == ''true'')'
      message: a mark is the label and the annotation together
    - expression: '!variables.isHeld || (variables.newAnnotations[?variables.annotation].orValue('''') == ''true'' && (variables.wasHeld || !variables.hadAnnotation))'
      message: a mark is the label and the annotation together
    - expression: variables.isHeld || !variables.wasHeld || !(variables.newAnnotations[?variables.annotation].orValue('') == 'true') || variables.isOwnedByOthers
      message: a mark is the label and the annotation together
    - expression: variables.newOwners.all(a, (variables.folds && (a.?operation.orValue('') == 'Update' && (a.?manager.orValue('') == 'ancient-changes' && a.?apiVersion.orValue('') == 'v1' && a.?subresource.orValue('') == ''))) || (variables.oldOwners.filter(b, a.?manager == b.?manager && a.?operation == b.?operation && a.?apiVersion == b.?apiVersion && a.?subresource == b.?subresource).map(b, b.fieldsV1) + [dyn({})]).exists(b, a.fieldsV1.all(k, b[?k] == optional.of(a.fieldsV1[k]) || (k == 'f:metadata' && size(a.fieldsV1[k]) > 0 && a.fieldsV1[k].all(m, b[?k][?m] == optional.of(a.fieldsV1[k][m]) || (m in variables.changedFields && (!(size(a.fieldsV1[k][m]) == 0 || '.' in a.fieldsV1[k][m]) || (b[?k][?m][?'.'].hasValue() || b[?k][?m] == optional.of(dyn({})) || ('.' in variables.changedFields[m] && (a.?manager.orValue('') == 'karpenter-node-holder' && a.?apiVersion.orValue('') == 'v1' && a.?subresource.orValue('') == '')))) && a.fieldsV1[k][m].all(f, f == '.' || (b[?k][?m][?f] == optional.of(a.fieldsV1[k][m][f]) || (f in variables.changedFields[m] && (a.?manager.orValue('') == 'karpenter-node-holder' && a.?apiVersion.orValue('') == 'v1' && a.?subresource.orValue('') == ''))))))))))
      message: the node holder may own only its mark, and take nothing else from an owner
    - expression: variables.oldOwners.all(a, a.?manager.orValue('') == 'karpenter-node-holder' || (variables.folds && a.?operation.orValue('') == 'Update' && ((a.?operation.orValue('') == 'Update' && (a.?manager.orValue('') == 'ancient-changes' && a.?apiVersion.orValue('') == 'v1' && a.?subresource.orValue('') == '')) || !variables.newOwners.exists(b, a.?manager == b.?manager && a.?operation == b.?operation && a.?apiVersion == b.?apiVersion && a.?subresource == b.?subresource))) || (variables.newOwners.filter(b, a.?manager == b.?manager && a.?operation == b.?operation && a.?apiVersion == b.?apiVersion && a.?subresource == b.?subresource).map(b, b.fieldsV1) + [dyn({})]).exists(b, a.fieldsV1.all(k, b[?k] == optional.of(a.fieldsV1[k]) || (k == 'f:metadata' && size(a.fieldsV1[k]) > 0 && a.fieldsV1[k].all(m, b[?k][?m] == optional.of(a.fieldsV1[k][m]) || (m in variables.changedFields && (!(size(a.fieldsV1[k][m]) == 0 || '.' in a.fieldsV1[k][m]) || (b[?k][?m][?'.'].hasValue() || b[?k][?m] == optional.of(dyn({})) || ('.' in variables.changedFields[m] && true))) && a.fieldsV1[k][m].all(f, f == '.' || (b[?k][?m][?f] == optional.of(a.fieldsV1[k][m][f]) || (f in variables.changedFields[m] && true)))))))))
      message: the node holder may own only its mark, and take nothing else from an owner
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .account }}
  labels:
    {{- include "karpenter-node-holder.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  policyName: {{ .account }}
  validationActions:
    - Deny
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .account }}
  labels:
    {{- include "karpenter-node-holder.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .account }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .root.Release.Namespace }}
{{- if not .mode }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .account }}
  namespace: kube-system
  labels:
    {{- include "karpenter-node-holder.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
rules:
  - apiGroups:
      - coordination.k8s.io
    resources:
      - leases
    verbs:
      - create
  - apiGroups:
      - coordination.k8s.io
    resources:
      - leases
    resourceNames:
      - karpenter-node-holder
    verbs:
      - get
      - update
{{- end }}
{{- if not .mode }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .account }}
  namespace: kube-system
  labels:
    {{- include "karpenter-node-holder.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .account }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}
{{- if and (not .mode) (ne $mode "observe") (eq (toString $set.nodeEvents) "true") }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .account }}
  namespace: default
  labels:
    {{- include "karpenter-node-holder.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
rules:
  - apiGroups:
      - ''
    resources:
      - events
    verbs:
      - create
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .account }}
  namespace: default
  labels:
    {{- include "karpenter-node-holder.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .account }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}
{{- end }}
