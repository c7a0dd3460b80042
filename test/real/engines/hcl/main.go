// Prints what is wrong with files of HCL: what does not parse, and what Terraform would format differently.
// With "evaluate FOLDER VARIABLES NAME...": evaluates a Terraform module's locals for variables in JSON, and prints them.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

func main() {
	if len(os.Args) > 3 && os.Args[1] == "evaluate" {
		evaluate(os.Args[2], os.Args[3], os.Args[4:])
		return
	}
	parser := hclparse.NewParser()
	for _, name := range os.Args[1:] {
		_, problems := parser.ParseHCLFile(name)
		for _, problem := range problems {
			fmt.Println(problem)
		}
		source, _ := os.ReadFile(name)
		if !bytes.Equal(source, hclwrite.Format(source)) {
			fmt.Printf("%s is not formatted: run terraform fmt\n", name)
		}
	}
}

var schema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "locals"}, {Type: "variable", LabelNames: []string{"name"}},
}}

func evaluate(folder, given string, names []string) {
	parser := hclparse.NewParser()
	files, _ := filepath.Glob(filepath.Join(folder, "*.tf"))
	expressions := map[string]hcl.Expression{}
	variables := map[string]cty.Value{}
	for _, file := range files {
		parsed, problems := parser.ParseHCLFile(file)
		check(problems)
		content, _, problems := parsed.Body.PartialContent(schema)
		check(problems)
		for _, block := range content.Blocks {
			if block.Type == "variable" {
				variables[block.Labels[0]] = defaultOf(block)
				continue
			}
			attributes, problems := block.Body.JustAttributes()
			check(problems)
			for name, attribute := range attributes {
				expressions[name] = attribute.Expr
			}
		}
	}
	for name, value := range valuesIn(given) {
		variables[name] = value
	}
	locals := evaluated(expressions, folder, variables)
	found := map[string]json.RawMessage{}
	for _, name := range names {
		text, err := ctyjson.Marshal(locals[name], locals[name].Type())
		if err != nil {
			panic(err)
		}
		found[name] = text
	}
	output, _ := json.Marshal(found)
	fmt.Println(string(output))
}

// Each local may need others, so the evaluation repeats until all are there.
func evaluated(expressions map[string]hcl.Expression, folder string, variables map[string]cty.Value) map[string]cty.Value {
	locals := map[string]cty.Value{}
	data := cty.ObjectVal(map[string]cty.Value{
		"aws_caller_identity": source("current", "account_id", "111122223333"),
		"aws_service":         source("s3", "region", "eu-west-1"),
	})
	for len(locals) < len(expressions) {
		before := len(locals)
		var last hcl.Diagnostics
		for name, expression := range expressions {
			if _, done := locals[name]; done || !areThere(expression, locals) {
				continue
			}
			value, problems := expression.Value(&hcl.EvalContext{
				Functions: functions(),
				Variables: map[string]cty.Value{
					"data": data, "var": cty.ObjectVal(variables), "local": cty.ObjectVal(locals),
					"path": cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal(folder)}),
				},
			})
			if problems.HasErrors() {
				last = problems
				continue
			}
			locals[name] = value
		}
		if len(locals) == before {
			check(last)
			panic("locals need each other")
		}
	}
	return locals
}

func areThere(expression hcl.Expression, locals map[string]cty.Value) bool {
	for _, traversal := range expression.Variables() {
		if traversal.RootName() != "local" || len(traversal) < 2 {
			continue
		}
		if step, isName := traversal[1].(hcl.TraverseAttr); isName {
			if _, done := locals[step.Name]; !done {
				return false
			}
		}
	}
	return true
}

func source(label, name, value string) cty.Value {
	inner := cty.ObjectVal(map[string]cty.Value{name: cty.StringVal(value)})
	return cty.ObjectVal(map[string]cty.Value{label: inner})
}

func defaultOf(block *hcl.Block) cty.Value {
	attributes, _ := block.Body.JustAttributes()
	if attribute, has := attributes["default"]; has {
		value, problems := attribute.Expr.Value(nil)
		check(problems)
		return value
	}
	return cty.NullVal(cty.String)
}

func valuesIn(text string) map[string]cty.Value {
	kind, err := ctyjson.ImpliedType([]byte(text))
	if err != nil {
		panic(err)
	}
	value, err := ctyjson.Unmarshal([]byte(text), kind)
	if err != nil {
		panic(err)
	}
	return value.AsValueMap()
}

func check(problems hcl.Diagnostics) {
	if problems.HasErrors() {
		fmt.Fprintln(os.Stderr, problems.Error())
		os.Exit(1)
	}
}
