// SPDX-License-Identifier: Apache-2.0
//
// Steps of a conformance script as calls of this crate.

use pigment::{
    Changes, Client, Collection, CollectionOptions, Column, DocumentFilter, EmbedError, EmbeddingFunction, ErrorKind,
    Facets, Filter, Get, Include, Purpose, Query, Records, Results, Selection, Sink, Space, Texts, Vectors,
};
use serde_json::{json, Value};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

pub enum Failure {
    Error(Box<pigment::Error>),
    NotExpressible(&'static str),
}

impl From<pigment::Error> for Failure {
    fn from(error: pigment::Error) -> Self {
        Self::Error(Box::new(error))
    }
}

type Answer = Result<Value, Failure>;

pub struct Runner {
    folder: Option<PathBuf>,
    client: Client,
    collections: HashMap<String, Collection>,
    cursor: String,
}

fn open(folder: &Option<PathBuf>) -> pigment::Result<Client> {
    folder.as_ref().map_or_else(Client::in_memory, Client::open)
}

fn text<'a>(args: &'a Value, key: &str) -> &'a str {
    args[key].as_str().unwrap_or_default()
}

/// A number that a script leaves out, says, or says in a way that an unsigned type has none for.
fn unsigned(args: &Value, key: &str, reason: &'static str) -> Result<Option<u64>, Failure> {
    match &args[key] {
        Value::Null => Ok(None),
        number => number.as_u64().map(Some).ok_or(Failure::NotExpressible(reason)),
    }
}

const LIMIT: &str = "a limit or offset is unsigned";

fn texts(args: &Value, key: &str) -> Option<Texts<'static>> {
    let list = args.get(key)?.as_array().expect("a list");
    Some(
        list.iter()
            .map(
                |one| {
                    if one.is_null() {
                        None
                    } else {
                        Some(one.as_str().map_or_else(|| one.to_string(), str::to_owned))
                    }
                },
            )
            .collect(),
    )
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().expect("a number").parse().expect("a name of a number"))
}

fn vectors(args: &Value) -> Option<Vectors<'static>> {
    fn rows<T>(list: &Value, element: impl Fn(&Value) -> T) -> Vec<Vec<T>> {
        list.as_array()
            .expect("rows")
            .iter()
            .map(|row| row.as_array().expect("a row").iter().map(&element).collect())
            .collect()
    }
    let list = args.get("embeddings")?;
    let whole = |value: &Value| value.as_i64().expect("an integer");
    Some(match args["dtype"].as_str().unwrap_or("f32") {
        "f32" => rows(list, |value| number(value) as f32).into(),
        "f64" => rows(list, number).into(),
        "i32" => rows(list, |value| whole(value) as i32).into(),
        "i64" => rows(list, whole).into(),
        other => panic!("no dtype {other}"),
    })
}

/// Chooses records by what a step says.
macro_rules! select {
    ($request:expr, $args:expr) => {{
        let mut request = $request;
        if let Some(ids) = texts($args, "ids") {
            request = request.ids(ids);
        }
        if let Some(json) = json_of($args, "where") {
            request = request.filter(Filter::from_json(json));
        }
        if let Some(json) = json_of($args, "where_document") {
            request = request.document_filter(DocumentFilter::from_json(json));
        }
        request
    }};
}

fn json_of(args: &Value, key: &str) -> Option<String> {
    let raw = args.get(format!("{key}_raw")).map(|raw| raw.as_str().expect("raw text").to_owned());
    raw.or_else(|| args.get(key).map(Value::to_string))
}

fn include(args: &Value) -> Include {
    let Some(names) = args.get("include") else { return Include::DEFAULT };
    let bits = names.as_array().expect("names").iter().map(|name| match name.as_str() {
        Some("documents") => Include::DOCUMENTS,
        Some("metadatas") => Include::METADATAS,
        Some("embeddings") => Include::EMBEDDINGS,
        Some("uris") => Include::URIS,
        Some("distances") => Include::DISTANCES,
        _ => panic!("no column {name}"),
    });
    bits.reduce(|a, b| a | b).unwrap_or(Include::NOTHING)
}

/// The embedding function of the scripts: component i counts the letter 'a' + i.
fn function(args: &Value) -> Result<Option<EmbeddingFunction>, Failure> {
    let Some(wanted) = args.get("function") else { return Ok(None) };
    let dimension = wanted["dimension"].as_u64().unwrap_or(3) as usize;
    let fault = text(wanted, "fault").to_owned();
    let embed = move |_: Purpose, texts: Column<'_, [u8]>, sink: &mut Sink<'_>| {
        if fault == "fail" {
            return Err(EmbedError::new(ErrorKind::Unavailable, "the model is asleep"));
        }
        let count = |text: &[u8], letter: usize| {
            text.iter().filter(|byte| usize::from(**byte) == usize::from(b'a') + letter).count() as f32
        };
        let mut values: Vec<f32> = texts
            .iter()
            .flat_map(|text| (0..dimension).map(move |letter| count(text.expect("a text"), letter)))
            .collect();
        match fault.as_str() {
            "nan" => *values.last_mut().expect("a number") = f32::NAN,
            "short" => values.truncate(values.len() - dimension),
            "extra" => values.extend(vec![0.0; dimension]),
            _ => {}
        }
        sink.put(&values, dimension)
    };
    let mut function = EmbeddingFunction::new(wanted["name"].as_str().unwrap_or("letters"), embed);
    if let Some(config) = wanted.get("config") {
        function = function.config(config)?;
    }
    Ok(Some(match text(wanted, "space") {
        "" => function,
        "l2" => function.space(Space::L2),
        "cosine" => function.space(Space::Cosine),
        "ip" => function.space(Space::Ip),
        _ => return Err(Failure::NotExpressible("a space is one of an enum")),
    }))
}

/// The columns of some rows under their names.
fn columns(results: &Results, rows: Range<usize>) -> HashMap<&'static str, Value> {
    let list =
        |one: &dyn Fn(pigment::Row<'_>) -> Value| Value::Array(rows.clone().map(|row| one(results.row(row))).collect());
    let mut columns = HashMap::from([("ids", list(&|row| json!(row.id())))]);
    let mut add = |there: bool, name, one: &dyn Fn(pigment::Row<'_>) -> Value| {
        if there {
            columns.insert(name, list(one));
        }
    };
    add(results.documents().is_some(), "documents", &|row| json!(row.document()));
    add(results.metadatas().is_some(), "metadatas", &|row| {
        json!(row.metadata::<pigment::Metadata>().expect("metadata"))
    });
    add(results.uris().is_some(), "uris", &|row| json!(row.uri()));
    add(results.distances().is_some(), "distances", &|row| json!(row.distance()));
    add(results.embeddings().is_some(), "embeddings", &|row| json!(row.embedding()));
    columns
}

fn query_json(results: &Results) -> Value {
    let mut answer = json!({});
    for query in 0..results.query_count() {
        for (name, column) in columns(results, results.range(query)) {
            let queries = &mut answer[name];
            if queries.is_null() {
                *queries = json!([]);
            }
            queries.as_array_mut().expect("a list").push(column);
        }
    }
    answer
}

impl Runner {
    pub fn new(folder: Option<PathBuf>) -> pigment::Result<Self> {
        Ok(Self { client: open(&folder)?, folder, collections: HashMap::new(), cursor: String::new() })
    }

    fn scoped(&self, args: &Value) -> Client {
        self.client.with_tenant(text(args, "tenant")).with_database(text(args, "database"))
    }

    fn handle(&self, args: &Value) -> &Collection {
        &self.collections[text(args, "collection")]
    }

    fn keep(&mut self, collection: Collection, args: &Value) -> Answer {
        let name = ["as", "name", "new_name"].iter().find_map(|key| args[*key].as_str()).unwrap_or("id");
        let description = collection.describe()?;
        self.collections.insert(name.to_owned(), collection);
        Ok(json!(description))
    }

    pub fn execute(&mut self, step: &Value) -> Answer {
        let nothing = json!({});
        let args = step.get("args").unwrap_or(&nothing);
        let name = text(args, "name");
        let client = self.scoped(args);
        match step["op"].as_str().expect("an op") {
            "close" => self.client.clone().close().map_err(|(_, error)| error)?,
            "reopen" => {
                self.client.clone().close().map_err(|(_, error)| error)?;
                self.collections.clear();
                self.client = open(&self.folder)?;
            }
            "create_tenant" => client.create_tenant(name)?,
            "get_tenant" => return Ok(json!(client.get_tenant(name)?)),
            "list_tenants" => return Ok(json!(client.list_tenants()?)),
            "delete_tenant" => client.delete_tenant(name)?,
            "create_database" => client.create_database(name)?,
            "get_database" => return Ok(json!(client.get_database(name)?)),
            "list_databases" => {
                let (limit, offset) = (unsigned(args, "limit", LIMIT)?, unsigned(args, "offset", LIMIT)?);
                return Ok(json!(client.list_databases(limit, offset.unwrap_or(0))?));
            }
            "delete_database" => client.delete_database(name)?,
            "create_collection" => return self.create(&client, args),
            "get_collection" => {
                let found = match function(args)? {
                    Some(function) => client.get_collection_with(name, &function)?,
                    None => client.get_collection(name)?,
                };
                return self.keep(found, args);
            }
            "get_collection_by_id" => {
                let id = match args["of"].as_str() {
                    Some(handle) => self.collections[handle].describe()?.id,
                    None => text(args, "id").to_owned(),
                };
                let found = client.get_collection_by_id(&id, function(args)?.as_ref())?;
                return self.keep(found, args);
            }
            "list_collections" => {
                let (limit, offset) = (unsigned(args, "limit", LIMIT)?, unsigned(args, "offset", LIMIT)?);
                let mut found = client.list_collections(limit, offset.unwrap_or(0))?;
                if args["sorted_by_name"] == true {
                    found.sort_by(|a, b| a.name.cmp(&b.name));
                }
                return Ok(json!(found));
            }
            "count_collections" => return Ok(json!(client.count_collections()?)),
            "delete_collection" => client.delete_collection(name)?,
            "describe" => return Ok(json!(self.handle(args).describe()?)),
            "modify" => self.modify(args)?,
            "fork" => {
                let made = self.handle(args).fork(text(args, "new_name"))?;
                return self.keep(made, args);
            }
            "flush" if args.get("collection").is_none() => self.client.flush()?,
            "flush" => self.handle(args).flush()?,
            op @ ("add" | "update" | "upsert") => return self.write(op, args),
            "delete" => {
                let selection = select!(Selection::new(), args);
                let written = match unsigned(args, "limit", LIMIT)? {
                    Some(limit) => self.handle(args).delete(selection.limit(limit))?,
                    None => self.handle(args).delete(selection)?,
                };
                return Ok(json!({"deleted": written.deleted}));
            }
            "get" => return self.get(args),
            "peek" => {
                let found = self.handle(args).peek(unsigned(args, "limit", LIMIT)?.unwrap_or(10))?;
                return Ok(json!(columns(&found, 0..found.len())));
            }
            "count" if ["ids", "where", "where_document"].iter().all(|key| json_of(args, key).is_none()) => {
                return Ok(json!(self.handle(args).count()?));
            }
            "count" => return Ok(json!(self.handle(args).count_where(&select!(Selection::new(), args))?)),
            "facets" => {
                let mut request = select!(Facets::new(texts(args, "keys").unwrap_or_default()), args);
                if let Some(limit) = unsigned(args, "limit", LIMIT)? {
                    request = request.limit(limit);
                }
                return Ok(json!(self.handle(args).facets(&request)?));
            }
            "query" => return self.query(args),
            other => panic!("no op {other}"),
        }
        Ok(Value::Null)
    }

    fn create(&mut self, client: &Client, args: &Value) -> Answer {
        let mut options = CollectionOptions::new().get_or_create(args["get_or_create"] == true);
        match (args.get("metadata_raw"), args.get("metadata")) {
            (Some(raw), _) => options = options.metadata_json(raw.as_str().expect("raw text")),
            (None, Some(metadata)) => options = options.metadata(metadata),
            (None, None) => {}
        }
        if let Some(json) = json_of(args, "configuration") {
            options = options.configuration_json(json);
        }
        if let Some(json) = json_of(args, "schema") {
            options = options.schema_json(json);
        }
        if let Some(function) = function(args)? {
            options = options.embedding_function(&function);
        }
        let made = client.create_collection(text(args, "name"), options)?;
        self.keep(made, args)
    }

    fn modify(&self, args: &Value) -> Result<(), Failure> {
        let mut changes = Changes::new();
        if let Some(name) = args["name"].as_str() {
            changes = changes.name(name);
        }
        if let Some(json) = json_of(args, "metadata") {
            changes = changes.metadata_json(json);
        }
        if let Some(json) = json_of(args, "configuration") {
            changes = changes.configuration_json(json);
        }
        Ok(self.handle(args).modify(&changes)?)
    }

    fn write(&self, op: &str, args: &Value) -> Answer {
        let mut records = Records::new(texts(args, "ids").unwrap_or_default());
        if let Some(embeddings) = vectors(args) {
            records = records.embeddings(embeddings);
        }
        if let Some(documents) = texts(args, "documents") {
            records = records.documents(documents);
        }
        if let Some(metadatas) = args.get("metadatas").and_then(Value::as_array) {
            // A text stands for itself, as raw JSON; everything else goes through serde.
            records = if metadatas.iter().any(Value::is_string) {
                records.metadatas_json(texts(args, "metadatas").unwrap_or_default())
            } else {
                records.metadatas(metadatas)?
            };
        }
        if let Some(uris) = texts(args, "uris") {
            records = records.uris(uris);
        }
        let collection = self.handle(args);
        let written = match op {
            "add" => collection.add(&records)?,
            "update" => collection.update(&records)?,
            _ => collection.upsert(&records)?,
        };
        Ok(
            json!({"inserted": written.inserted, "updated": written.updated, "skipped": written.skipped, "deleted": written.deleted}),
        )
    }

    fn get(&mut self, args: &Value) -> Answer {
        let mut request = select!(Get::new(), args).include(include(args));
        if let Some(limit) = unsigned(args, "limit", LIMIT)? {
            request = request.limit(limit);
        }
        if let Some(offset) = unsigned(args, "offset", LIMIT)? {
            request = request.offset(offset);
        }
        if let Some(json) = json_of(args, "order_by") {
            request = request.order_by_json(json);
        }
        let last = std::mem::take(&mut self.cursor);
        if args["goes_on"] == true {
            request = request.cursor(last);
        } else if let Some(cursor) = args["cursor"].as_str() {
            request = request.cursor(cursor);
        }
        let found = self.handle(args).get(&request)?;
        let mut answer = json!(columns(&found, 0..found.len()));
        answer["may_go_on"] = json!(found.cursor().is_some());
        self.cursor = found.cursor().unwrap_or_default().to_owned();
        Ok(answer)
    }

    fn query(&self, args: &Value) -> Answer {
        let mut request = select!(Query::new(), args).include(include(args));
        if let Some(embeddings) = vectors(args) {
            request = request.embeddings(embeddings);
        }
        if let Some(texts) = texts(args, "texts") {
            request = request.texts(texts);
        }
        if let Some(n_results) = unsigned(args, "n_results", "n_results is unsigned")? {
            request = request.n_results(n_results);
        }
        if let Some(distance) = args.get("max_distance") {
            request = request.max_distance(number(distance));
        }
        Ok(query_json(&self.handle(args).query(&request)?))
    }
}
