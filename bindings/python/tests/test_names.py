# SPDX-License-Identifier: Apache-2.0
"""Chroma's public names, the parameters of what is called and their defaults, what results hold and what exceptions are: as here, but for the tables below, each line with
its reason. A line that is true no longer fails."""

import json
import os
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).with_name("chroma_names.py")

# By reason: names of Chroma's modules, "MODULE.NAME", and of its classes, "CLASS.NAME", that are not here.
MISSING = {
    "a condition is the JSON that it prints": "*.key *.value *.values *.pattern *.conditions",
    "a row of a search is a dictionary": "api.types.SearchResultRow",
    "there are no sparse vectors": (
        ".SparseVector .SparseVectors .SparseEmbeddingFunction api.types.SparseVector api.types.SparseVectors api.types.SparseEmbeddingFunction "
        "utils.embedding_functions.SparseEmbeddingFunction utils.embedding_functions.sparse_known_embedding_functions"),
    "there are no keys of customers": ".Cmek api.types.Cmek api.types.CmekProvider",
    "there is no server": (
        ".AdminClientCreator .AsyncClientCreator .ClientCreator .CloudClientArg .TokenTransportHeader types.CloudClientArg config.APIVersion "
        "Client.get_user_identity ClientAPI.get_user_identity *.get_chroma_cloud_api_key_from_clients"),
    "there are no components": "config.Component config.System config.RoutingMode config.LEGACY_ERROR config.C config.T *.from_system",
    "the status of an index is Collection.segments()": "api.types.IndexingStatus",
    "what its own parts say to each other": (
        "types.C types.T types.BaseModelJSONSerializable types.Collection types.CollectionAndSegments types.CollectionConfiguration types.Configurable types.ConfigurationInternal "
        "types.Database types.LogRecord types.MetadataEmbeddingRecord types.NamespacedName types.Operation types.OperationRecord types.OptionalArgument types.RequestVersionContext "
        "types.ScalarEncoding types.Schema types.Segment types.SegmentScope types.SeqId types.Tenant types.Unspecified types.VectorEmbeddingRecord types.VectorQuery "
        "types.VectorQueryResult api.types.AddRequest api.types.BaseRecordSet api.types.DeleteRequest api.types.FilterSet api.types.GetRequest api.types.InsertRecordSet "
        "api.types.QueryRequest api.types.UpdateRequest api.types.UpsertRequest api.types.IndexMetadata api.types.Parameter api.types.D api.types.L"),
    "types of what filters and vectors are made of": (
        "types.InclusionExclusionOperator types.LogicalOperator types.OperatorExpression types.PyVector types.Vector types.WhereDocumentOperator types.WhereOperator "
        "api.types.LogicalOperator api.types.OperatorExpression api.types.PyVector api.types.Vector api.types.WhereDocumentOperator api.types.WhereOperator api.types.PyEmbedding "
        "api.types.PyEmbeddings api.types.ImageDType api.types.NDArray api.types.DeleteResult"),
    "constants of its own code": (
        ".IN_COLAB .logger .is_client config.logger config.is_thin_client api.types.is_thin_client api.types.TYPE_CHECKING api.types.META_KEY_CHROMA_DOCUMENT api.types.TYPE_KEY api.types.IncludeMetadataDocuments "
        "api.types.IncludeMetadataDocumentsDistances api.types.IncludeMetadataDocumentsEmbeddings api.types.IncludeMetadataDocumentsEmbeddingsDistances"),
    "words of a schema's JSON": " ".join(f"api.types.{one}" for one in (
        "BOOL_INVERTED_INDEX_NAME BOOL_VALUE_NAME FLOAT_INVERTED_INDEX_NAME FLOAT_LIST_VALUE_NAME FLOAT_VALUE_NAME FTS_INDEX_NAME HNSW_INDEX_NAME INT_INVERTED_INDEX_NAME "
        "INT_VALUE_NAME SPANN_INDEX_NAME SPARSE_VECTOR_INDEX_NAME SPARSE_VECTOR_TYPE_VALUE SPARSE_VECTOR_VALUE_NAME STRING_INVERTED_INDEX_NAME STRING_VALUE_NAME "
        "VECTOR_INDEX_NAME").split()),
    "wrappers of services and of other packages, whose own classes are taken": " ".join(f"utils.embedding_functions.{one}" for one in (
        "AmazonBedrockEmbeddingFunction BasetenEmbeddingFunction Bm25EmbeddingFunction ChromaBm25EmbeddingFunction ChromaCloudQwenEmbeddingFunction "
        "ChromaCloudSpladeEmbeddingFunction ChromaLangchainEmbeddingFunction CloudflareWorkersAIEmbeddingFunction CohereEmbeddingFunction FastembedSparseEmbeddingFunction "
        "GoogleGeminiEmbeddingFunction GoogleGenaiEmbeddingFunction GoogleGenerativeAiEmbeddingFunction GooglePalmEmbeddingFunction GoogleVertexEmbeddingFunction "
        "HuggingFaceEmbeddingFunction HuggingFaceEmbeddingServer HuggingFaceSparseEmbeddingFunction InstructorEmbeddingFunction JinaEmbeddingFunction JinaQueryConfig "
        "MistralEmbeddingFunction MorphEmbeddingFunction NomicEmbeddingFunction NomicQueryConfig ONNXMiniLM_L6_V2 OllamaEmbeddingFunction OpenAIEmbeddingFunction "
        "OpenCLIPEmbeddingFunction PerplexityEmbeddingFunction RoboflowEmbeddingFunction Text2VecEmbeddingFunction TogetherAIEmbeddingFunction VoyageAIEmbeddingFunction "
        "known_embedding_functions").split()),
    "retries are of the package tenacity": "*.embed_with_retries",
    "the cache of loaded models": "SentenceTransformerEmbeddingFunction.models",
    "validators of pydantic": "*.validate_embedding_function_field *.validate_source_key_field",
}

# Calls whose parameters are others.
DIFFERENT = {
    "Client": "without settings it has those of configure()", "AdminClient": "None is the same as Settings()",
    "Client.()": "as above", "AdminClient.()": "as above", "SharedSystemClient.()": "as above",
    "HttpClient": "raises, whatever it is given", "AsyncHttpClient": "raises, whatever it is given", "CloudClient": "raises, whatever it is given",
    "Collection.()": "a client makes collections", "AsyncCollection.()": "as above", "Where.()": "a condition is made of its JSON", "EmbeddingFunction.()": "a protocol there, a class here",
}

# Exceptions that are others.
OTHER_ERRORS = {"UniqueConstraintError": "is an InternalError, too, which Chroma's embedded client says"}


def names_of(interpreter, module):
    done = subprocess.run([interpreter, str(SCRIPT), module], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "ANONYMIZED_TELEMETRY": "False"})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def takes_all(theirs, ours):
    """Whether every call that one takes is taken by the other: parameters in the same places with the same defaults, and more only with defaults."""
    return theirs == ours or (theirs is not None and ours is not None and ours[:len(theirs)] == theirs
                              and all(default != "required" for _, _, default in ours[len(theirs):]))


def test_every_public_name_of_chroma_is_here_or_in_a_list_with_its_reason():
    theirs, ours = names_of(os.environ["PIGMENT_CHROMA_PYTHON"], "chromadb"), names_of(sys.executable, "pigment")
    reasons = {name: reason for reason, names in MISSING.items() for name in names.split()}
    used, wrong = set(), []
    count = 0

    def missing(place, name):
        for known in (f"{place}.{name}", f"{place}.*", f"*.{name}"):
            if known in reasons:
                used.add(known)
                return
        wrong.append(f"missing: {place}.{name}")

    for place, names in theirs["names"].items():
        count += len(names)
        for name in sorted(set(names) - set(ours["names"].get(place, ()))):
            missing(place, name)
    for place, members in theirs["classes"].items():
        kind = place.rsplit(".", 1)[-1]
        for name, parameters in members.items():
            count += 1
            if name not in ours["classes"][place]:
                missing(kind, name)
            elif takes_all(parameters, ours["classes"][place][name]) == (f"{kind}.{name}" in DIFFERENT):
                wrong.append(f"parameters of {place}.{name}:\n  Chroma   {parameters}\n  pigment  {ours['classes'][place][name]}")
    for name, parameters in theirs["calls"].items():
        if takes_all(parameters, ours["calls"][name]) == (name in DIFFERENT):
            wrong.append(f"parameters of {name}:\n  Chroma   {parameters}\n  pigment  {ours['calls'][name]}")
    for name, said in theirs["errors"].items():
        if (said == ours["errors"].get(name)) == (name in OTHER_ERRORS):
            wrong.append(f"exception {name}:\n  Chroma   {said}\n  pigment  {ours['errors'].get(name)}")
    wrong += [f"not missing: {name} ({reasons[name]})" for name in sorted(set(reasons) - used)]
    assert not wrong, "\n".join(wrong)
    assert count > 350 and len(theirs["errors"]) >= 15 and set(theirs["results"]) == {"GetResult", "QueryResult"}, count


def test_results_have_the_keys_of_chromas():
    import pigment

    docs = pigment.EphemeralClient().create_collection("docs", embedding_function=None)
    docs.add(ids=["a"], embeddings=[[1]])
    theirs = names_of(os.environ["PIGMENT_CHROMA_PYTHON"], "chromadb")["results"]
    assert sorted(docs.get()) == theirs["GetResult"] and sorted(docs.query(query_embeddings=[[1]])) == theirs["QueryResult"]
