//! Reports in a browser: what is on a page can be read, its links lead somewhere, and text stays text.

use crate::common::*;

const SEED: &[(&str, &[u8])] = &[("greeting", b"hello world, hello, hello.")];

/// Markup that must stay text, with all that matters to HTML.
const MARKUP: &str = "<img src=x onerror=\"owned=1\"><script>owned=1</script>&amp;'";

const VIEWS: [View; 3] =
    [View { width: 1280, is_dark: false }, View { width: 420, is_dark: false }, View { width: 1280, is_dark: true }];

/// Asserts that a page is well in all views, folded as it is and with everything open.
#[track_caller]
fn assert_readable(browser: &mut Browser, page: &Path) {
    let look = include_str!("../testdata/page.js");
    for view in VIEWS {
        browser.open(page, view);
        for is_open in [false, true] {
            if is_open {
                browser.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
            }
            let seen = browser.evaluate(look);
            let page = page.display();
            assert!(seen["texts"].as_u64() > Some(10), "{page}: {seen:#}");
            assert_eq!(seen["wrong"], json!([]), "{page}, {view:?}, open: {is_open}");
            for link in array(&seen["links"]) {
                let file = Path::new(string(link));
                assert!(file.is_file(), "{page} links to {}", file.display());
            }
        }
        assert_eq!(browser.errors(), Vec::<&Value>::new(), "{}", page.display());
        let paper = "getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'";
        assert_eq!(browser.evaluate(paper), !view.is_dark);
        assert_eq!(browser.evaluate("typeof owned + document.images.length"), "undefined0");
    }
}

/// Opens the report of a campaign and the pages of its findings.
#[track_caller]
fn assert_report(browser: &mut Browser, scene: &Scene) {
    assert_readable(browser, &scene.path("out/report.html"));
    let diffs = scene.path("out/diffs");
    if diffs.is_dir() {
        for name in scene.files("out/diffs").keys().take(2) {
            assert_readable(browser, &diffs.join(name));
        }
    }
}

#[test]
fn reports_of_all_kinds_can_be_read_in_a_browser() {
    let Some(mut browser) = Browser::start() else { return };
    // slow inputs, with a law
    let scene = Scene::new(SEED);
    let program = built("library_below.cc", &["-g", "-O1", "-fsanitize=fuzzer"], None);
    scene.fuzz(&program, "--execs 5000 --seed 3 --max-size 1000").ended();
    assert_report(&mut browser, &scene);
    let causes = browser_rows(&mut browser, &scene);
    assert!(causes.contains("count_pairs"), "{causes}");
    assert!(causes.contains("library_below.cc:") && causes.contains("n²"), "{causes}");
    // of the heap
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("sizes.c"), "--execs 20000 --max-size 2000 --seed 1 --cost heap").ended();
    assert_report(&mut browser, &scene);
    // crashes
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("ends.c"), "--execs 3000 --seed 1 --hang-timeout 1s").ended();
    assert!(scene.summary()["faults"].as_u64() > Some(0));
    assert_report(&mut browser, &scene);
    // nothing
    let scene = Scene::new(SEED);
    scene.write("rules", b"'hello': 'hello hello'\n");
    scene.fuzz(&harness("sizes.c"), "--execs 2000 --seed 3 --regex-rules rules --rules R --no-mask").ended();
    assert_eq!(scene.summary()["degradations"], 0);
    assert_report(&mut browser, &scene);
}

#[test]
fn markup_in_inputs_and_names_stays_text_in_a_browser() {
    let Some(mut browser) = Browser::start() else { return };
    let scene = Scene::new(&[("a<img src=x onerror=owned=1>&'", MARKUP.as_bytes())]);
    let program = scene.path("h<img src=x onerror=owned=1>&'\"");
    copy_program(&harness("quadratic.c"), &program);
    scene.fuzz(&program, "--execs 3000 --seed 3 --max-size 1000").ended();
    let mut summary = scene.summary();
    assert!(!array(&summary["findings"]).is_empty());
    for finding in summary["findings"].as_array_mut().expect("a list") {
        finding["hot_function"] = MARKUP.into();
        finding["hot_location"] = format!("{MARKUP}:7").into();
        for line in finding["growth"]["lines"].as_array_mut().expect("a list") {
            line["function"] = MARKUP.into();
            line["file"] = MARKUP.into();
        }
    }
    fs::write(scene.path("out/summary.json"), summary.to_string()).expect("written");
    run(&mut scene.quagmire(&["report", "out"])).ended();
    assert_report(&mut browser, &scene);
    browser.open(&scene.path("out/report.html"), VIEWS[0]);
    // the end of a location, and a name
    let text = browser.evaluate("document.body.innerText");
    let text = string(&text);
    assert!(text.contains("script>&amp;':7") && text.contains("h<img src=x onerror=owned=1>&'"), "{text}");
}

/// Text of the table of causes.
fn browser_rows(browser: &mut Browser, scene: &Scene) -> String {
    browser.open(&scene.path("out/report.html"), VIEWS[0]);
    string(&browser.evaluate("document.querySelector('.causes').innerText")).to_owned()
}
