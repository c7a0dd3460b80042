// Prints what is wrong with files of HCL: what does not parse, and what Terraform would format differently.
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

func main() {
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
