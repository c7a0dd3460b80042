{{- /* Written by npm run build:chart: the objects that `manifest --holder run` prints. */}}
{{- define "karpenter-node-holder.rights" }}
{{- $set := .root.Values.settings }}
{{- $mode := .mode | default ($set.mode | default "hold") }}
{{- $known := dict "v1" "karpenter.sh/do-not-disrupt" "v0.31" "karpenter.sh/do-not-consolidate" }}
{{- $annotation := $set.holdAnnotation | default (get $known ($set.karpenter | default "v1")) }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: karpenter-node-holder
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
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: karpenter-node-holder
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
    - name: keys
      expression: '[''{{ $annotation }}'']'
    - name: present
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
    - name: oldOwners
      expression: dyn(oldObject).metadata.?managedFields.orValue([])
    - name: newOwners
      expression: dyn(object).metadata.?managedFields.orValue([])
    - name: hasManyUpdates
      expression: variables.newOwners.filter(a, a.?operation.orValue('') == 'Update').size() >= 10
    - name: markFields
      expression: '{''f:labels'': [''.'', ''f:karpenter-node-holder/hold''], ''f:annotations'': [''.'', ''f:{{ $annotation }}'']}'
    - name: wasHeld
      expression: variables.oldLabels[?variables.label].orValue('').matches('^[0-9]{8}t[0-9]{6}-[a-z0-9]{6}$')
    - name: isHeld
      expression: variables.newLabels[?variables.label].orValue('').matches('^[0-9]{8}t[0-9]{6}-[a-z0-9]{6}$')
    - name: oldKeys
      expression: variables.keys.filter(k, k in variables.oldAnnotations)
    - name: newKeys
      expression: variables.keys.filter(k, k in variables.newAnnotations)
    - name: sameAnnotations
      expression: variables.oldKeys == variables.newKeys && variables.oldKeys.all(k, variables.newAnnotations[k] == variables.oldAnnotations[k])
    - name: sameLabel
      expression: variables.newLabels[?variables.label] == variables.oldLabels[?variables.label]
    - name: changesMark
      expression: '!variables.sameLabel || !variables.sameAnnotations'
  validations:
    - expression: object.spec == oldObject.spec && object.metadata.?finalizers.orValue([]) == oldObject.metadata.?finalizers.orValue([]) && object.metadata.?ownerReferences.orValue([]) == oldObject.metadata.?ownerReferences.orValue([]) && object.metadata.?generateName.orValue('') == oldObject.metadata.?generateName.orValue('')
      message: the node holder may change nothing but its mark
    - expression: variables.newAnnotations.all(k, k in variables.keys || (k in variables.oldAnnotations && variables.oldAnnotations[k] == variables.newAnnotations[k])) && variables.oldAnnotations.all(k, k in variables.keys || k in variables.newAnnotations)
      message: the node holder may change only its hold annotation
    - expression: variables.newLabels.all(k, k == variables.label || (k in variables.oldLabels && variables.oldLabels[k] == variables.newLabels[k])) && variables.oldLabels.all(k, k == variables.label || k in variables.newLabels)
      message: the node holder may change only its hold label
    - expression: variables.wasHeld || !(variables.label in variables.oldLabels) || (variables.sameLabel && variables.sameAnnotations)
      message: 'this node is excluded: its label karpenter-node-holder/hold is its user''s'
    - expression: variables.isHeld || !(variables.label in variables.newLabels) || variables.sameLabel
      message: the node holder may set its label karpenter-node-holder/hold to the id of a hold only
    - expression: 'variables.oldKeys.all(k, k in variables.newAnnotations ? variables.newAnnotations[k] == variables.oldAnnotations[k] : variables.wasHeld && variables.oldAnnotations[k] == ''true'')'
      message: the annotation on this node is its user's
    - expression: variables.sameAnnotations || (size(variables.oldKeys) <= 1 && size(variables.newKeys) <= 1)
      message: one of the two annotations on this node is its user's
    - expression: variables.newKeys.all(k, k in variables.oldAnnotations || (k == variables.present && variables.isHeld && variables.newAnnotations[k] == 'true'))
      message: a mark is the label and the annotation together
    - expression: '!variables.isHeld || variables.newKeys.exists(k, variables.newAnnotations[k] == ''true'' && (variables.wasHeld || !(k in variables.oldAnnotations)))'
      message: a mark is the label and the annotation together
    - expression: variables.isHeld || !variables.wasHeld || !variables.newKeys.exists(k, variables.newAnnotations[k] == 'true')
      message: a mark is the label and the annotation together
    - expression: variables.newOwners.all(a, (variables.hasManyUpdates && a.?operation.orValue('') == 'Update' && a.?manager.orValue('') == 'ancient-changes') || (variables.oldOwners.filter(b, a.?manager == b.?manager && a.?operation == b.?operation && a.?apiVersion == b.?apiVersion && a.?subresource == b.?subresource).map(b, b.fieldsV1) + [{}]).exists(b, a.fieldsV1.all(k, b[?k] == optional.of(a.fieldsV1[k]) || (k == 'f:metadata' && a.fieldsV1[k].all(m, b[?k][?m] == optional.of(a.fieldsV1[k][m]) || (m in variables.markFields && a.fieldsV1[k][m].all(f, b[?k][?m][?f].hasValue() || (f in variables.markFields[m] && variables.changesMark && a.?manager.orValue('') == 'karpenter-node-holder'))))))))
      message: the node holder may own only its mark, and take nothing else from an owner
    - expression: variables.oldOwners.all(a, (a.?operation.orValue('') == 'Update' && variables.newOwners.exists(a, (variables.hasManyUpdates && a.?operation.orValue('') == 'Update' && a.?manager.orValue('') == 'ancient-changes'))) || (variables.newOwners.filter(b, a.?manager == b.?manager && a.?operation == b.?operation && a.?apiVersion == b.?apiVersion && a.?subresource == b.?subresource).map(b, b.fieldsV1) + [{}]).exists(b, a.fieldsV1.all(k, b[?k] == optional.of(a.fieldsV1[k]) || (k == 'f:metadata' && a.fieldsV1[k].all(m, b[?k][?m] == optional.of(a.fieldsV1[k][m]) || (m in variables.markFields && a.fieldsV1[k][m].all(f, b[?k][?m][?f].hasValue() || (f in variables.markFields[m] && variables.changesMark && true))))))))
      message: the node holder may own only its mark, and take nothing else from an owner
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: karpenter-node-holder
  labels:
    {{- include "karpenter-node-holder.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  policyName: karpenter-node-holder
  validationActions:
    - Deny
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: karpenter-node-holder
  labels:
    {{- include "karpenter-node-holder.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: karpenter-node-holder
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}
