//! scratch
use antidrift_daemon::ai::embedded::*;
use std::io::*;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let verbose = std::env::args().nth(2);
    let catalogue = Catalogue::default();
    let mut n = 0u32; let mut total = std::time::Duration::ZERO; let mut worst = std::time::Duration::ZERO;
    for line in read_to_string(std::fs::File::open(path).unwrap()).unwrap().lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let s = |k: &str| row[k].as_str().unwrap();
        let allowed: Vec<String> = row["allowed_classes"].as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect();
        let aim = Aim::new(&catalogue, &[s("commitment")], &allowed);
        let t = std::time::Instant::now();
        let o = judge(&catalogue, &aim, s("window_class"), s("window_title"));
        let t = t.elapsed(); total += t; n += 1; worst = worst.max(t);
        let v = match o.answer { Answer::OnTask{..} => "on_task", Answer::Drifting => "drifting", Answer::Unsure => "abstain" };
        if let Some(m) = &verbose {
            let l = s("label");
            let show = match m.as_str() { "fa" => l=="on_task" && v=="drifting", "on" => l=="drifting" && v=="on_task", "missed" => l=="drifting" && v=="abstain", "soft" => l=="ambiguous" && v=="drifting", _ => true };
            if show { println!("{} {} {:?} kind={:?} name={:?} tie={:.1}{:?}\n   C: {}\n   W: [{}] {}  ({}; {})", s("id"), v, o.rule, o.reading.kind.map(|k| catalogue::kind_names().nth(k as usize).unwrap()), o.reading.name, o.tie.strength, o.tie.words, s("commitment"), s("window_class"), s("window_title"), l, s("kind")); }
        } else { println!("{}", serde_json::json!({"id": s("id"), "verdict": v})); }
    }
    eprintln!("{n} rows, mean {:?}, worst {worst:?}", total / n);
}
