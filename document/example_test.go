package document_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"skink/document"
	"skink/extract"
)

func Example() {
	ctx := context.Background()
	body, err := os.ReadFile("../testdata/documents/tides.pdf")
	if err != nil {
		panic(err)
	}

	r := document.NewReader(document.Options{})
	defer r.Close()
	doc, err := r.Parse(ctx, extract.Options{}, body, "application/pdf")

	if err != nil {
		panic(err)
	}
	first, _, _ := strings.Cut(doc.Text, "\n")
	fmt.Println(doc.Lang, first)
	// Output: en Reading a tide table
}
