#!/bin/sh
# Keeps an OpenSearch index of passages up to date, with room for vectors of 384 dimensions:
#
#	sh opensearch.sh STORE https://localhost:9200/pages
#
# Fill the field "embedding" yourself, for example with an ingest pipeline (index.default_pipeline)
# that has a text_embedding processor. A passage that is sent again loses a vector that you added
# in another way; find such passages with a query for documents without this field. This script
# needs curl and jq.
set -eu
cursor=$1.passages.cursor
if [ ! -e "$cursor" ]; then
	skink export --chunks --print-mapping |
		jq '.settings.index.knn = true | .mappings.properties.embedding = {type: "knn_vector", dimension: 384}' |
		curl -fsS -X PUT -H 'Content-Type: application/json' --data-binary @- "$2"
fi
skink export --store "$1" --chunks --cursor "$cursor" --to "$2"
